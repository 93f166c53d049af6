"""Programs and folders: code as action, the sandbox, and tools for a folder and its repository.

`clew_code.programs` runs programs that a model wrote, `clew_code.sandbox` holds programs to one
folder, and `clew_code.workspace` has the tools for files, commands and git.
"""
