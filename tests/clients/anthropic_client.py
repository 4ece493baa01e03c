"""What the official Python client of Anthropic does: messages, stream helpers, tool runner, count tokens. Prints one JSON object."""

import json
import sys

import anthropic

key, url, model, *rest = sys.argv[1:]
client = anthropic.Anthropic(api_key=key, base_url=url, max_retries=0)
messages = [{"role": "user", "content": "Wo regnet es?"}]


@anthropic.beta_tool
def weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: Its name.
    """
    return f"Regen in {city}."


asked = {"model": model, "max_tokens": 2000, "messages": messages}
tools = [weather.to_dict()]
runs = []
for stream in (False, True) if "runner" in rest else ():
    runner = client.beta.messages.tool_runner(**asked, tools=[weather], stream=stream)
    runs.append(runner.until_done().content[-1].text)
whole = client.messages.create(**asked, tools=tools)
with client.messages.stream(**asked, tools=tools) as stream:
    kinds = sorted({event.type for event in stream})
    last = stream.get_final_message()
print(
    json.dumps(
        {
            "runs": runs,
            "input": whole.content[-1].input,
            "cost": whole.usage.model_extra["cost"],
            "streamed": last.content[-1].input,
            "stop_reason": last.stop_reason,
            "kinds": kinds,
            "tokens": client.messages.count_tokens(model=model, messages=messages).input_tokens,
        }
    )
)
