"""A sandbox: programs may write one folder, enforced by the Linux kernel.

It uses namespaces, landlock and seccomp; `kernel()` says which of them this machine supports.
"""

from clew_code.sandbox.kernel import Kernel, KernelLayer, kernel
from clew_code.sandbox.sandbox import CommandResult, Sandbox, SandboxError, SandboxLimits

__all__ = [
    "CommandResult",
    "Kernel",
    "KernelLayer",
    "Sandbox",
    "SandboxError",
    "SandboxLimits",
    "kernel",
]
