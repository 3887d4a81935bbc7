#!/usr/bin/env bash
# A campaign under a real Slurm of three nodes on this machine, into a real PostgreSQL, while runners, a node and the
# database are killed: no row is lost, none is doubled, and `campaign status` is right at each moment.
#
#   tests/app/slurm_test.sh build/bin
#
# Takes some ten minutes, of which most is Slurm's wait before it tries a task again. Needs root, slurmctld, slurmd,
# munged and PostgreSQL's server; says what is missing and passes where they are not.
set -euo pipefail
bin=$(realpath "$1")
export PATH=$PATH:/usr/sbin
postgres=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1 || true)
skip() { printf 'skipped: %s\n' "$1"; exit 0; }
fail() { printf 'FAILED: %s\n' "$1" >&2; exit 1; }
for program in slurmctld slurmd munged sbatch; do
  command -v "$program" >/dev/null || skip "$program is not installed (apt-get install slurmctld slurmd slurm-client munge)"
done
[[ -n $postgres ]] || skip "PostgreSQL's server is not installed"
((UID == 0)) || skip "starting slurmd and munged takes root"

folder=$(mktemp -d)
chmod 755 "$folder"
stop_all() {
  scancel --user=root 2>/dev/null || true
  pkill -9 -f "slurmd -f $folder/" || true
  pkill -9 -f "slurmctld -f $folder/" || true
  pkill -9 -f "munged .*$folder/" || true
  pkill -9 -f 'slurmstepd: \[' || true
  team_store stop "$data" >/dev/null 2>&1 || true
  rm -rf "$folder"
}
trap stop_all EXIT

# The cluster: three nodes, two kinds of devices.
host=$(hostname -s)
mkdir -p "$folder"/{munge,state,log,run}
dd if=/dev/urandom of="$folder/munge/key" bs=1024 count=1 status=none
chmod 600 "$folder/munge/key"
chown -R munge: "$folder/munge"
chmod 711 "$folder/munge"
socket=$folder/munge/socket
runuser -u munge -- munged --key-file="$folder/munge/key" --socket="$socket" --pid-file="$folder/munge/pid" \
  --log-file="$folder/munge/log" --seed-file="$folder/munge/seed"
cat >"$folder/slurm.conf" <<END
ClusterName=infimum
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort=6917
AuthType=auth/munge
AuthInfo=socket=$socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool-%n
SlurmctldPidFile=$folder/run/slurmctld.pid
SlurmdPidFile=$folder/run/slurmd-%n.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SlurmdTimeout=20
ReturnToService=2
JobRequeue=1
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=6921 CPUs=1 RealMemory=1000 Feature=typeA
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=6922 CPUs=1 RealMemory=1000 Feature=typeA
NodeName=n3 NodeHostname=$host NodeAddr=127.0.0.1 Port=6923 CPUs=1 RealMemory=1000 Feature=typeB
PartitionName=measure Nodes=n[1-3] Default=YES OverSubscribe=EXCLUSIVE MaxTime=60 State=UP
END
export SLURM_CONF=$folder/slurm.conf
start_node() { mkdir -p "$folder/spool-$1"; slurmd -f "$SLURM_CONF" -N "$1" 2>/dev/null; }
slurmctld -f "$SLURM_CONF"
for node in n1 n2 n3; do start_node "$node"; done
for _ in {1..60}; do [[ $(sinfo -h -o %D -t idle 2>/dev/null) == 3 ]] && break; sleep 1; done
[[ $(sinfo -h -o %D -t idle) == 3 ]] || { sinfo; tail "$folder"/log/*; fail "Slurm has no three idle nodes"; }

# The database.
data=$folder/data port=5559
team_store() { INFIMUM=$bin/infimum PORT=$port "$(dirname "$0")/../../scripts/team_store" "$@"; }
start_database() { team_store local "$data" >/dev/null 2>&1; }
start_database
address_of() { printf 'postgresql:///%s?host=%s&port=%s' "$1" "$data" "$port"; }
sql() { "$postgres/psql" -h "$data" -p "$port" -At -d "$1" -c "$2"; }

models=("$bin"/../share/infimum/models/light_{squeezenet,resnet50,shufflenet}.onnx)
"$bin/infimum" plan "${models[@]}" -o "$folder/all.plan" --db "$folder/none.db"
# The pretended machine: its times are exact, so that bounds of equal rows are equal. A pace makes it slow enough to be
# killed.
runner=("$bin/infimum-microbench-fake" --backend-option "pace=2ms")
expected=$("${runner[@]}" "$folder/all.plan" --dry-run | sed -n 's/^\([0-9]*\) runs in each of.*/\1/p')
printf '%s rows expected\n' "$expected"
"$bin/infimum-microbench-fake" "$folder/all.plan" --peaks -q -o "$folder/one.jsonl"
"$bin/infimum" import "$folder/one.jsonl" --db "$folder/one.db" -q
bound() { "$bin/infimum" bound "${models[1]}" --db "$1" --device 'Pretended machine 0' --cache warm --format json; }

status() { "$bin/infimum" campaign status "$folder/$1" --format json; }
# Rows never become fewer nor more than expected; what is done is in the database.
check_status() {
  status "$1" | python3 -c '
import json, sys
parts = json.load(sys.stdin)["parts"]
for part in parts:
    if part["expected"] is not None and part["rows"] > part["expected"]: sys.exit(f"more rows than expected: {part}")
    if part["state"] == "done" and part["rows"] != part["expected"]: sys.exit(f"done and not whole: {part}")
print(sum(part["state"] == "done" for part in parts), sum(part["rows"] for part in parts),
      sum(part["rows"] for part in parts if part["state"] == "done"))'
}
wait_until_done() {
  local done rows saved last=0 count
  for _ in {1..600}; do
    # In this order: what is counted as done was saved before.
    read -r done rows saved < <(check_status "$1") || fail "status of $1"
    ((rows >= last)) || fail "$1: $rows rows, $last before"
    last=$rows
    if count=$(sql "$1" 'SELECT count(*) FROM infimum.measurements' 2>/dev/null) && ((count < saved)); then
      fail "$1: $saved rows are said to be done, the database has $count"
    fi
    if [[ $done == "$2" ]]; then return; fi
    sleep 1
  done
  squeue
  fail "$1 is not done"
}
check_rows() {
  local rows distinct
  rows=$(sql "$1" 'SELECT count(*) FROM infimum.measurements')
  distinct=$(sql "$1" 'SELECT count(*) FROM (SELECT DISTINCT workload_id, candidate_id, contract, cache FROM infimum.measurements) AS rows')
  [[ $rows == "$expected" && $distinct == "$expected" ]] || fail "$1: $rows rows, $distinct different, $expected expected"
  diff <(bound "$folder/one.db") <(bound "$(address_of "$1")") >"$folder/bounds" || { head -n 20 "$folder/bounds"; fail "$1: its bound is another"; }
  printf '%s: %s rows, its bound is that of one run\n' "$1" "$rows"
}
prepare() {
  "$postgres/createdb" -h "$data" -p "$port" "$1"
  "$bin/infimum" db init --db "$(address_of "$1")" -q
  "$bin/infimum" campaign prepare "$folder/all.plan" --backend fake --backend-option pace=2ms --cache warm \
    --shards "$2" --kind typeA --db "$(address_of "$1")" -o "$folder/$1" -q
}
# The first process of this kind; its parent is the task.
process_of() { for _ in {1..300}; do pgrep -f "$1" | head -n 1 | grep . && return; sleep 0.1; done; fail "no process $1"; }

submit=$(prepare undisturbed 6)
eval "$submit" >/dev/null
wait_until_done undisturbed 6
check_rows undisturbed

submit=$(prepare disturbed 24)
eval "$submit" >/dev/null
kill -9 "$(process_of "infimum-microbench-fake $folder/disturbed/plan.txt")"
printf 'a runner was killed\n'
# The slurmd of a node that measures, and all that it started.
step=$(process_of 'slurmstepd: \[')
node=$(squeue -h -t R -o %N | head -n 1)
pkill -9 -f "slurmd -f $SLURM_CONF -N $node" || true
kill -9 "$step"
pkill -9 -f "campaign run $folder/disturbed" || true
pkill -9 -f "infimum-microbench-fake $folder/disturbed" || true
printf 'node %s was killed\n' "$node"
sleep 2
# The server, while parts are imported.
for _ in {1..300}; do read -r done _ < <(check_status disturbed); ((done >= 2)) && break; sleep 0.5; done
kill -9 "$(head -n 1 "$data/postmaster.pid")"
printf 'the database was killed after %s parts\n' "$done"
sleep 5
start_database
start_node "$node"
scancel --name=infimum
printf 'the tasks were cancelled\n'
sleep 3
eval "$submit" >/dev/null
wait_until_done disturbed 24
check_rows disturbed
printf 'passed\n'
