"""The research script in LangGraph: `create_agent` with a checkpointer and two middlewares."""

import json
import re
import sys
from typing import Any

import library
from genai_prices import Usage, calc_price
from langchain.agents import create_agent
from langchain.agents.middleware import AgentState, after_model, before_model
from langchain.messages import AIMessage, HumanMessage
from langchain.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver

# --- begins


@tool
def look_up(city: str) -> str:
    """Look a city up."""
    return library.look_up(city)


def replies(messages: list[Any]) -> list[AIMessage]:
    return [each for each in messages if isinstance(each, AIMessage)]


def cost(messages: list[Any]) -> float:
    used = [each.usage_metadata for each in replies(messages) if each.usage_metadata]
    read, written = (sum(each[kind] for each in used) for kind in ("input_tokens", "output_tokens"))
    price = calc_price(Usage(input_tokens=read, output_tokens=written), "gpt-4.1-mini")
    return float(price.total_price)


@before_model(can_jump_to=["end"])
def budget(state: AgentState, runtime: Any) -> dict[str, Any] | None:
    if cost(state["messages"]) < 0.01:
        return None
    return {"jump_to": "end"}


@after_model(can_jump_to=["model"])
def cited(state: AgentState, runtime: Any) -> dict[str, Any] | None:
    messages = state["messages"]
    cities = {call["args"]["city"] for each in replies(messages) for call in each.tool_calls}
    if strange := set(re.findall(r"\[(.+?)\]", messages[-1].text)) - cities:
        return {"messages": [HumanMessage(f"nobody looked {strange} up")], "jump_to": "model"}
    return None


def research(saver: SqliteSaver | None = None, model: Any = "openai:gpt-4.1-mini") -> Any:
    return create_agent(
        model,
        [look_up],
        system_prompt="Answer from the library. Cite as [city].",
        middleware=[budget, cited],
        checkpointer=saver,
    )


def main(question: str) -> None:
    with SqliteSaver.from_conn_string("runs.sqlite") as saver:
        agent, config = research(saver), {"configurable": {"thread_id": "research"}}
        state = agent.get_state(config)
        if state.next or not state.values:
            begun = None if state.values else {"messages": [HumanMessage(question)]}
            agent.invoke(begun, config, durability="sync")
        messages = agent.get_state(config).values["messages"]
    last = replies(messages)[-1]
    status = "bound" if last.tool_calls else "answered"
    print(json.dumps([status, last.text, cost(messages)]))


if __name__ == "__main__":
    main(sys.argv[1])
