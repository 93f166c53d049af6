"""A folder for programs to work in, with walls of the kernel around it.

Namespaces, landlock and seccomp; `kernel()` says which of them this machine has.
"""

from clew.toolbox.sandbox.kernel import Kernel, Wall, kernel
from clew.toolbox.sandbox.sandbox import Ended, Sandbox, SandboxError, SandboxLimits

__all__ = ["Ended", "Kernel", "Sandbox", "SandboxError", "SandboxLimits", "Wall", "kernel"]
