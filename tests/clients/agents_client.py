"""The OpenAI Agents SDK with a function tool through the Responses API, without stored responses. Prints one JSON object."""

import asyncio
import json
import sys

from agents import Agent, ModelSettings, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

key, url, model = sys.argv[1:]
set_tracing_disabled(True)


@function_tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"Regen in {city}."


async def main() -> None:
    client = AsyncOpenAI(api_key=key, base_url=url, max_retries=0)
    agent = Agent(
        name="Weather",
        instructions="Be brief.",
        model=OpenAIResponsesModel(model=model, openai_client=client),
        model_settings=ModelSettings(store=False),
        tools=[weather],
    )
    whole = await Runner.run(agent, "Wo regnet es?")
    streamed = Runner.run_streamed(agent, "Wo regnet es?")
    async for _ in streamed.stream_events():
        pass
    print(json.dumps({"whole": whole.final_output, "streamed": streamed.final_output}))


asyncio.run(main())
