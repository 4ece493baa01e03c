/** The same request as curl, Python and TypeScript, ready to paste. */

export interface SnippetRequest {
  baseUrl: string;
  /** Without a token the snippet reads it from the environment. */
  token?: string;
  model: string;
  message: string;
  system?: string;
  stream: boolean;
  temperature?: number;
  maxTokens?: number;
}

function bodyOf({ model, message, system, stream, temperature, maxTokens }: SnippetRequest) {
  return {
    model,
    messages: [...(system ? [{ role: 'system', content: system }] : []), { role: 'user', content: message }],
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(stream && { stream: true }),
  };
}

export function curl(request: SnippetRequest): string {
  const json = jsonOf(bodyOf(request)).replaceAll("'", "'\\''");
  const token = request.token ?? '$LODESTONE_KEY';
  return [
    `curl ${request.stream ? '-N ' : ''}${request.baseUrl}/v1/chat/completions \\`,
    `  -H "Authorization: Bearer ${token}" \\`,
    '  -H "Content-Type: application/json" \\',
    `  -d '${json}'`,
  ].join('\n');
}

export function python(request: SnippetRequest): string {
  const { model, messages, stream, ...rest } = bodyOf(request);
  const fields = [
    `    model=${quoted(model)},`,
    '    messages=[',
    ...messages.map(({ role, content }) => `        {"role": ${quoted(role)}, "content": ${quoted(content)}},`),
    '    ],',
    ...Object.entries(rest).map(([name, value]) => `    ${name}=${value},`),
    ...(stream ? ['    stream=True,'] : []),
  ];
  const end = stream
    ? ['for chunk in answer:', '    if chunk.choices:', '        print(chunk.choices[0].delta.content or "", end="")']
    : ['print(answer.choices[0].message.content)'];
  return [
    'import os',
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url=${quoted(`${request.baseUrl}/v1`)}, api_key=os.environ["LODESTONE_KEY"])`,
    '',
    'answer = client.chat.completions.create(',
    ...fields,
    ')',
    ...end,
  ].join('\n');
}

export function typescript(request: SnippetRequest): string {
  const body = jsonOf(bodyOf(request)).replace(/^(\s*)"(\w+)":/gm, '$1$2:');
  const end = request.stream
    ? ["for await (const chunk of answer) process.stdout.write(chunk.choices[0]?.delta?.content ?? '');"]
    : ['console.log(answer.choices[0].message.content);'];
  return [
    "import OpenAI from 'openai';",
    '',
    'const client = new OpenAI({',
    `  baseURL: ${quoted(`${request.baseUrl}/v1`)},`,
    '  apiKey: process.env.LODESTONE_KEY,',
    '});',
    '',
    `const answer = await client.chat.completions.create(${body});`,
    ...end,
  ].join('\n');
}

/** JSON with one field and one message per line. */
function jsonOf({ messages, ...rest }: ReturnType<typeof bodyOf>): string {
  const { model, ...others } = rest;
  const spaced = (value: object) => JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ');
  const fields = [
    `"model": ${quoted(model)}`,
    `"messages": [\n${messages.map((message) => `    ${spaced(message)}`).join(',\n')}\n  ]`,
    ...Object.entries(others).map(([name, value]) => `${quoted(name)}: ${value}`),
  ];
  return `{\n  ${fields.join(',\n  ')}\n}`;
}

/** A JSON string is a string of Python and TypeScript too. */
const quoted = (text: string) => JSON.stringify(text);
