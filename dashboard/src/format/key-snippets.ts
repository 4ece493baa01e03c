/** The first request with a new API key, in three languages. The key is in the code, so that it runs as it is pasted. */

export interface KeySnippet {
  value: string;
  label: string;
  code: string;
}

const model = 'sandbox/lodestone/echo';
const message = 'Hello';

/** A management key calls no model; it lists the account's keys. */
export function keySnippets(baseUrl: string, token: string, kind: 'inference' | 'management'): KeySnippet[] {
  const texts = kind === 'management' ? managing(baseUrl, token) : calling(baseUrl, token);
  return [
    { value: 'curl', label: 'curl', code: texts.curl },
    { value: 'python', label: 'Python', code: texts.python },
    { value: 'typescript', label: 'TypeScript', code: texts.typescript },
  ];
}

function calling(baseUrl: string, token: string) {
  return {
    curl: `curl ${baseUrl}/v1/chat/completions \\
  -H "Authorization: Bearer ${token}" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${model}", "messages": [{"role": "user", "content": "${message}"}]}'`,
    python: `from openai import OpenAI

client = OpenAI(
    base_url="${baseUrl}/v1",
    api_key="${token}",
)

answer = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "${message}"}],
)
print(answer.choices[0].message.content)`,
    typescript: `import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: '${baseUrl}/v1',
  apiKey: '${token}',
});

const answer = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: '${message}' }],
});
console.log(answer.choices[0].message.content);`,
  };
}

function managing(baseUrl: string, token: string) {
  return {
    curl: `curl ${baseUrl}/v1/keys -H "Authorization: Bearer ${token}"`,
    python: `import json, urllib.request

request = urllib.request.Request(
    "${baseUrl}/v1/keys",
    headers={"Authorization": "Bearer ${token}"},
)
print(json.load(urllib.request.urlopen(request)))`,
    typescript: `const answer = await fetch('${baseUrl}/v1/keys', {
  headers: { authorization: 'Bearer ${token}' },
});
console.log(await answer.json());`,
  };
}
