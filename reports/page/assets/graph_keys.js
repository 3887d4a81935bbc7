// The graph by keyboard: one layer is active, which arrow keys leave along an edge or in the model's order. Focus stays
// on the graph, which names the active layer to those who cannot see it (aria-activedescendant).
'use strict';

const ACTIVE_ID = 'graph-active';
const AROUND = 40;  // pixels that stay between the active layer and the picture's edge

class GraphKeys {
  constructor(graph) {
    this.graph = graph;
    this.view = graph.view;
    this.active = null;
    this.last = null;  // was active before the focus went
    this.ring = graph.root.insert('rect', '.labels').attr('class', 'focus-ring').attr('rx', 9).style('display', 'none');
    this.listen();
  }

  // Along an edge: the critical one, else to the layer that stands nearest; constants last.
  along(node, down) {
    const edges = node.edges.filter((edge) => (down ? edge.from : edge.to) === node);
    const other = (edge) => (down ? edge.to : edge.from);
    const isConstant = (one) => one.free && !one.edges.some((edge) => edge.to === one);
    const rank = (edge) => (edge.critical ? 0 : isConstant(other(edge)) ? 2 : 1);
    edges.sort((a, b) => rank(a) - rank(b) || Math.abs(other(a).x - node.x) - Math.abs(other(b).x - node.x) || a.index - b.index);
    return edges.length > 0 ? other(edges[0]) : null;
  }

  go(key) {
    const nodes = this.graph.model.nodes;
    const at = this.active.index;
    const targets = {
      ArrowDown: () => this.along(this.active, true), ArrowUp: () => this.along(this.active, false),
      ArrowRight: () => nodes[at + 1], ArrowLeft: () => nodes[at - 1], Home: () => nodes[0], End: () => nodes[nodes.length - 1],
    };
    const target = targets[key]();
    if (target) {
      this.activate(target);
    } else {
      announce(key === 'ArrowDown' ? 'No layer reads this one' : key === 'ArrowUp' ? 'This one reads no layer' : 'There is no further layer');
    }
  }

  activate(node) {
    this.release();
    this.active = this.last = node;
    const mark = node.element;
    mark.id = ACTIVE_ID;
    mark.setAttribute('role', 'button');
    mark.setAttribute('aria-label', nodeName(this.graph.model, node));
    this.view.setAttribute('aria-activedescendant', ACTIVE_ID);
    this.place();
  }

  // No layer is active: arrow keys move the picture.
  release() {
    if (!this.active) return;
    for (const name of ['id', 'role', 'aria-label']) this.active.element.removeAttribute(name);
    this.view.removeAttribute('aria-activedescendant');
    this.active = null;
    this.ring.style('display', 'none');
    tooltip.hide();
  }

  // The picture so that the active layer is in it, and what is known of it beside it.
  place() {
    const { graph, active: node } = this;
    if (!node) return;
    const transform = d3.zoomTransform(graph.svg.node());
    const [x, y] = transform.apply([node.x, node.y]);
    const [right, down] = [node.width * transform.k / 2 + AROUND, node.height * transform.k / 2 + AROUND];
    if (x < right || x > graph.width - right || y < down || y > graph.height - down) {
      graph.svg.interrupt().call(graph.zoom.translateTo, node.x, node.y);
    }
    const room = 4 / Math.min(1, transform.k);
    this.ring.attr('x', node.x - node.width / 2 - room).attr('y', node.y - node.height / 2 - room)
      .attr('width', node.width + 2 * room).attr('height', node.height + 2 * room).style('display', null);
    const box = node.element.getBoundingClientRect();
    if (box.top < 0 || box.bottom > innerHeight) scrollBy(0, box.top - innerHeight / 2);
    this.tell();
  }

  tell() {
    const { graph, active: node } = this;
    if (!node) return;
    const box = node.element.getBoundingClientRect();
    tooltip.show({ clientX: box.right, clientY: box.bottom }, ...graphTip(graph.model, graph.data, node));
  }

  listen() {
    const { graph, view } = this;
    const moves = ['ArrowDown', 'ArrowUp', 'ArrowRight', 'ArrowLeft', 'Home', 'End'];
    const pans = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    const zooms = { '+': 1.6, '=': 1.6, '-': 1 / 1.6, _: 1 / 1.6 };
    const acts = {
      0: () => graph.fit(0), n: () => graph.showNextLargest(0), Escape: () => this.release(),
      Enter: () => {
        const [first] = graph.selected;
        if (this.active || first) graph.open(this.active || first); else this.activate(this.start());
      },
    };
    view.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (this.active && !event.shiftKey && moves.includes(event.key)) {
        this.go(event.key);
      } else if (pans[event.key]) {
        graph.pan(...pans[event.key]);
      } else if (zooms[event.key]) {
        graph.zoomBy(zooms[event.key], this.active);
      } else if (acts[event.key]) {
        if (event.key === 'Escape' && !this.active) return;
        acts[event.key]();
      } else {
        return;
      }
      event.preventDefault();
      if (!event.shiftKey && event.key !== 'Enter') this.place(); else this.tell();
    });
    // A click moves the picture; who comes by keyboard reads.
    view.addEventListener('focus', () => { if (view.matches(':focus-visible')) this.activate(this.start()); });
    view.addEventListener('blur', () => this.release());
    addEventListener('scroll', () => this.tell(), { passive: true });
  }

  start() {
    const [first] = this.graph.selected;
    return this.last || first || this.graph.model.nodes[0];
  }
}
