"""Built by scripts/package, which puts the installed programs into infimum/prefix and says the version."""

import os

from setuptools import Distribution, setup
from wheel.bdist_wheel import bdist_wheel


class Programs(Distribution):
    def has_ext_modules(self) -> bool:
        return True


class AnyPython(bdist_wheel):  # type: ignore[misc]
    """One wheel for every Python: its programs do not link it."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


setup(version=os.environ["INFIMUM_VERSION"], distclass=Programs, cmdclass={"bdist_wheel": AnyPython})
