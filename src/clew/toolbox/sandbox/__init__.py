"""A sandbox: programs may write one folder, enforced by the Linux kernel.

It uses namespaces, landlock and seccomp; `kernel()` says which of them this machine supports.
"""

from clew.toolbox.sandbox.kernel import Kernel, Wall, kernel
from clew.toolbox.sandbox.sandbox import Ended, Sandbox, SandboxError, SandboxLimits

__all__ = ["Ended", "Kernel", "Sandbox", "SandboxError", "SandboxLimits", "Wall", "kernel"]
