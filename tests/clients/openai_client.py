"""What the official Python client of OpenAI does: responses, streams, parsing, embeddings. Prints one JSON object."""

import json
import sys

import openai
from pydantic import BaseModel

key, url, model, embedding_model = sys.argv[1:]
client = openai.OpenAI(api_key=key, base_url=url, max_retries=0)


class Place(BaseModel):
    city: str


asked = {"model": model, "input": "Wo regnet es?", "store": False}
whole = client.responses.create(**asked)
with client.responses.stream(**asked) as stream:
    kinds = [event.type for event in stream]
    last = stream.get_final_response()
parsed = client.responses.parse(**asked, text_format=Place)
vectors = client.embeddings.create(model=embedding_model, input=["a", "b"])
print(
    json.dumps(
        {
            "text": whole.output_text,
            "cost": whole.usage.model_extra["cost"],
            "streamed": last.output_text,
            "first": kinds[0],
            "last": kinds[-1],
            "parsed": parsed.output_parsed.city,
            "vectors": [len(each.embedding) for each in vectors.data],
        }
    )
)
