"""Hand a question to a Celery worker, as Django or Flask would, and follow it by its run.

The record is the only state: a task that is delivered twice, or again after its worker died,
continues the same run. Set the broker in celeryconfig.py, then: celery -A tasks worker
"""

import os
from pathlib import Path

from celery import Celery

from clew import Agent, sync, tool
from clew.guards import Provenance
from clew.testing import ScriptedModel, act, say

STORE = os.environ.get("CLEW_STORE", "runs.sqlite")  # the web process opens the same

app = Celery("tasks")
app.config_from_object("celeryconfig")


@tool
def send(to: str) -> str:
    """Send a letter."""
    with Path("letters.txt").open("a", encoding="utf-8") as letters:
        letters.write(f"{to}\n")
    return "sent"


clerk = Agent(  # or Agent("openai:gpt-4.1-mini", …)
    ScriptedModel([act("send", to="Ada"), say("The letter is out.")]),
    tools=[send],
    guards=[Provenance("off")],  # a script plays the model, and plans nothing
)


@app.task(acks_late=True, reject_on_worker_lost=True)
def work(run_id: str) -> str:
    """Do what is left of a run."""
    return sync.resume(clerk, run_id, store=STORE).status


def ask(question: str, user: str) -> str:
    """What a view calls: the run's id, at once."""
    run_id = sync.submit(clerk, question, store=STORE, owner=user)
    work.delay(run_id)
    return run_id
