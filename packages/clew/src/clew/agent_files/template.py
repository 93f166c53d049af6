"""What `clew init --all` writes: an agent file that works as it is, with every key explained."""

from typing import Final

TEMPLATE: Final = """\
# An agent of clew. Ask it:  clew ask "What is 17 * 23?" --agent agent.toml
# Uncomment the settings you need. Wrong keys and values are reported with their line before the
# first model call. Paths are relative to this file.

# Who thinks: provider:model (`clew doctor models` lists some), or "offline" for the rules that
# need none. Left out, it is the first that is usable (`clew doctor` says which).
model = "offline"

# How the model writes its actions: native, paper, labelled, json, code.
# codec = "native"

# A second model that reads what the first one says in free text (docs/models.md).
# parser = "openai:gpt-4.1-nano"

# A folder of text, Markdown, HTML and PDF to search and cite.
# docs = "notes"

# A file of memories: what fits a question is told, and the model can remember and look up.
# memory = "memory.sqlite"

# Where records lie: a file (SQLite) or postgresql://….
# Left out: your data folder.
# store = "runs.sqlite"

# Tools that ship (`clew tools list`), and your own as module:name, from files beside this one.
tools = ["calc", "planner"]
# tools = ["calc", "ask_person", "my_tools:weather"]

# What looks through your words before the model sees them: injections (refuses known attacks),
# injections-ask (holds them for you), injections-mark (tells the model), module:name. [] for none.
# screens = ["injections", "my_screens:polite"]

# Ask the model, or another one, whether what you ask for is harmful (docs/safety.md): refuse it,
# ask (hold it for you) or mark (tell the model). As one word: harmful = "refuse"
# harmful = { model = "openai:gpt-4o-mini", then = "refuse", unjudged = "refuse" }

# Guards (may this call happen?) and bounds (may it go on?), as module:name.
# guards = ["my_guards:no_mail_outside"]
# bounds = ["my_bounds:office_hours"]

# Calls that act on what others wrote are asked about (docs/safety.md): standard, strict or off;
# but for those of tools that are exempt. As one word: provenance = "off"
# provenance = { level = "standard", exempt = ["append_log"] }

# What checks an answer: grounded (names, numbers, dates, quotations and links must stand in the
# passages that it cites), module:name. An answer that fails goes back to the model.
# checks = ["grounded", "my_checks:has_a_source"]
# grounded = { threshold = 0.5, citations = "searched", scope = "sentence" }   # its settings

# What makes, from a run's id, labels and owner, what its tools get by their RunContext.
# deps = "my_app:deps_of"

# The type of the answer, as module:name of a dataclass or model. Left out: text.
# answer = "my_types:Invoice"
# references = true      # cite by number, with the list at the end of the answer's text
# tries = 2             # how often a rejected answer goes back; then the fallback
# fallback = "I cannot say."   # the answer after that; of a typed answer, its JSON

# What the model is told first, in the place of the usual. As one text: prompt = "…"
# [prompt]
# persona = "You answer questions about our products from the documents."
# constraints = ["Cite what you use as [doc_id].", "If it cannot be found, say so."]
# output = "One sentence, then the sources."
# verbatim = false      # the persona and the constraints as they are, without clew's own words
# examples = 0          # worked examples shown first: so many of those that fit the tools
# thought = true        # ask for a thought before each action
# short = true          # four lines in the place of the usual persona and constraints
# repeat_question = true  # say the question again after an empty or cut reply
# strict_landing = true   # at a limit, ask only for what an observation says
# raw_replies = true      # show the model its earlier replies as it wrote them
# outcome = false         # do not ask what came of the task (done, not_done, not_found)
# variants = false      # leave out what clew changes for families of models and for small ones
# tell_left = "near"    # tell the model what is left: near, always, never

# What the model is told beside the prompt. A setting that it has none of is refused.
# [settings]
# temperature = 0.2
# top_p = 0.9
# max_tokens = 4000     # of one reply, reasoning included
# stop = ["END"]
# seed = 7              # recorded, and sent to models that take one
# effort = "low"        # none, minimal, low, medium, high, xhigh, max
# reasoning_tokens = 2000
# cache = "short"       # keep the prompt at the provider: off, short (minutes), long (hours)
# timeout = 60          # seconds for a reply, or for the next part of a streamed one
# extra = { top_k = 40 }  # parameters of the provider that have no name here

# How the server is reached. ${NAME} is a variable of the environment: keys do not belong here.
# [connection]
# base_url = "http://localhost:8000/v1"
# total = 900           # for a reply with all its retries, and their delays:
# patience = 120
# rate = "60 requests, 100000 tokens"
# proxy = "http://proxy.example:3128"
# headers = { X-Team = "research" }

# What the model costs, where the table does not know it: US dollars per million tokens.
# [prices."my-model"]
# input = 1.0
# output = 2.0
# cached = 0.1          # of the prompt, what the provider had kept

[limits]
steps = 15
# tool_calls = 30
# calls_per_tool = { web_search = 5 }
# calls_per_step = 16   # calls of one reply
# tokens = 1000000
# cost = 1.0
# seconds = 600
# part_seconds = 30     # for a guard, a check or another part of yours
# reply_seconds = 3600  # for one thought of a model of yours
# grace = 2             # seconds that a stopped tool or part has to end
# faults = 3            # unreadable replies in a row
# depth = 3             # of sub-runs
# argument_bytes = 1000000     # of one call
# observation_bytes = 10000000 # of one result
# landing = true        # at a limit, ask for the best answer so far
# no_progress = "early"  # against repetition: early, late, or auto (early with small models)
# unknown = "tell"      # after a call whose effect is unknown: tell the model, or hold for you

# A tool that is called when another fails, if certainly nothing was done.
# [fallbacks]
# web_search = "wiki_search"
# weather = { tool = "climate", arguments = { city = "place" } }  # its parameters by other names

# What you know of where a tool's results come from, and where its arguments go.
# [labels.web_search]
# trusted = ["id"]      # fields of a result that no third party can choose; "*" is each
# content = ["text"]    # arguments that are only text to carry
# egress = false        # whether arguments leave although it only reads
# traces = false        # whether others can see that it was called
# secret = false        # whether a result goes nowhere unasked
# contained = false     # whether all that it does stays in a folder of yours: it is not judged

# Calls that a person approves before they are made: true, a reason, or module:name of a function
# of the arguments that says so.
# [approve]
# send = "a letter needs approval"

# More tools than a model chooses well among: show those in always, and of the rest the best k for
# what is to be done.
# [retrieval]
# k = 10
# always = ["calc"]
# embed = "words"       # by words only; by meaning too with the extra embeddings; or module:name
# max_tools = 100       # never show more than so many
# per_server = 4        # of the k, at most so many from one server (the prefix of a tool's name)

# A folder whose files the model may read and change; it runs programs there, in a sandbox.
# The folder alone: workspace = "…"
# [workspace]
# root = "project"
# only = ["list_files", "read_file", "grep"]   # not all of its tools
# network = false       # whether programs may reach other machines
# readable = ["../data"]  # what programs may read beside the folder and the system
# env = ["CI"]          # variables of the environment that programs get
# default_branch = false  # whether git_commit may commit on it
# author = "Ann <ann@example.com>"   # of its commits
# protected = ["deploy"]  # no tool writes there
# trusted = false       # whether what files say can be trusted
# unsafe_kernel = false # run programs although the kernel lacks a part of the sandbox
# [workspace.limits]
# memory = 4000000000   # bytes, all programs of a call together; cpu, processes, file, disk

# What is left out of a run that outgrows the model's window; the record keeps all of it.
# [compaction]
# by = ["duplicates", "mask", "drop"]  # in this order; or extract: lines with words of the goal
# at = 0.92             # once the next prompt would take this share of the window,
# to = 0.15             # down to this share
# keep = 3              # the last steps stay as they are
# window = 32000        # tokens, where the model's window is not known, or shall not be used whole

# Take a wrong branch out of the model's view, and leave a lesson in its place.
# [rewinds]
# by = ["repeated", "rejected"]  # calls refused as repetitions; answers that checks rejected,
# rejected = 2          # so many of them
# max_rewinds = 3       # not more often than that
# critic = "openai:gpt-4o-mini"  # ask this model too whether the run is on a wrong branch,
# every = 5             # after so many steps, and where calls repeat themselves

# Answer by several runs (docs/strategies.md): a name, or a table with its settings.
# [strategy]
# name = "reflexion"    # or rewoo, plan_and_solve, orchestrator, evaluator_optimizer, tree_search,
#                       # auto, module:name
# trials = 3
# memory = 3            # so many reflections are shown to the next trial
# evaluator = "judge.toml"  # another agent file, or a tool of this agent; by default its model

# A command-line program as a tool: an argument list, never a shell.
# [[programs]]
# name = "git_log"
# description = "The latest commits of this repository."
# argv = ["git", "log", "--oneline", "-n", "{count}"]
# effect = "read"                       # pure, read, idempotent, or unsafe (the default)
# timeout = 10
# dashes = ["count"]                    # parameters whose value may begin with a dash
# env = ["CI"]                          # variables of the environment that it gets
# cwd = "project"
# limit = 50000                         # characters of its output
# [programs.parameters.count]
# type = "integer"
# description = "How many commits."

# A Python function in a process of its own: it is ended at its deadline and at its limits.
# [[processes]]
# function = "my_tools:simulate"
# name = "simulate"                     # and description: else those of the function
# description = "Simulate a day."
# effect = "pure"
# timeout = 60
# cpu = 30                              # seconds
# memory = 1000000000                   # bytes
# version = "1"                         # change it when what it does changes
# env = ["CI"]                          # variables of the environment that it gets

# Tools of a server of the Model Context Protocol, each named SERVER_tool (extra mcp). What it says
# of them is pinned in AGENT.mcp.json at first use; a call is held while it says something else.
# [[mcp]]
# name = "files"
# command = "npx"                       # or url = "https://mcp.example.com/mcp", with headers and
#                                       # auth (docs/mcp.md)
# args = ["-y", "@modelcontextprotocol/server-filesystem", "."]
# cwd = "project"
# env = { LEVEL = "info" }              # it gets no other variables than PATH, HOME and language
# effects = { read_text_file = "read" } # every other tool is unsafe (`clew tools classify`)
# trusted = []                          # tools whose results are trusted
# only = ["read_text_file", "write_file"]  # offer these tools, and no others
# resources = true                      # tools that list and read resources
# prompts = true                        # and prompts
# roots = ["project"]                   # folders that it is told of
# sampling = 0                          # tokens of your model that one call may spend
# timeout = 120                         # seconds for one call; connect_timeout: for its start
# connect_timeout = 30

# A tool that somebody else performs: each call waits for its result (`clew answer`).
# [[external]]
# name = "scan"
# description = "Scans a page on the desk."
# effect = "unsafe"
# trust = "untrusted"
# timeout = 3600                        # seconds; then the call ends without a result, or
# fallback = "nobody is there"          # with this one
# result = { type = "string" }
# [external.parameters.page]
# type = "integer"

# The agent of another file as a tool: each call is a run of its own, with a share of the limits.
# [[agents]]
# name = "researcher"
# description = "Finds out what the notes say about one question."
# file = "researcher.toml"
# attachments = true                    # it is given what a person attached
"""
