/// <reference types="node" />
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { messagesDoor } from './doors/messages.js';
import { curl, python, snippetsOf, typescript } from './snippets.js';

const request = {
  baseUrl: 'http://127.0.0.1:8787',
  model: 'auto/meta/llama-3.3-70b',
  message: `It's "quoted" \\ and\nbroken $HOME`,
  system: 'Be brief',
  stream: true,
  temperature: 0.5,
  maxTokens: 20,
};

const body = {
  model: request.model,
  messages: [
    { role: 'system', content: 'Be brief' },
    { role: 'user', content: request.message },
  ],
  temperature: 0.5,
  max_tokens: 20,
  stream: true,
};

describe('the same request as code', () => {
  it('curl: a shell hands over exactly the body that the playground sends', () => {
    const command = curl(request).replace(/^curl/, 'printf "%s\\n"');
    const printed = execFileSync('sh', ['-c', command], { env: { LODESTONE_KEY: 'sk-lr-x' } }).toString();
    expect(printed).toContain('Authorization: Bearer sk-lr-x');
    expect(JSON.parse(printed.slice(printed.indexOf('{')))).toEqual(body);
  });

  it('TypeScript: the object literal is the body', () => {
    const literal = /create\((\{[\s\S]*\})\);/.exec(typescript(request))?.[1];
    expect(new Function(`return ${literal}`)()).toEqual(body);
  });

  it('Python: one argument a field, texts quoted', () => {
    const code = python(request);
    expect(code).toContain('    model="auto/meta/llama-3.3-70b",');
    expect(code).toContain(`{"role": "user", "content": ${JSON.stringify(request.message)}},`);
    expect(code).toContain('    max_tokens=20,\n    stream=True,');
  });

  it('leaves out what is not set', () => {
    const plain = { baseUrl: 'http://x', model: 'm', message: 'Hi', stream: false };
    expect(curl(plain)).not.toContain('temperature');
    expect(python(plain)).toContain('print(answer.choices[0].message.content)');
  });

  it('a token stands in the code of every language, and the fields of Lodestone where each library takes them', () => {
    const told = { model: 'm', max_tokens: 9, messages: [], provider: { sort: 'price', zdr: true } };
    const codes = snippetsOf(messagesDoor, told, { baseUrl: 'http://x', token: 'sk-lr-1' }).map(({ code }) => code);
    for (const code of codes) expect(code).toContain('sk-lr-1');
    expect(codes[0]).toContain('"provider": { "sort": "price", "zdr": true }');
    expect(codes[1]).toContain('extra_body={"provider": {"sort": "price", "zdr": True}},');
    expect(codes[2]).toContain('...({ provider: { "sort": "price", "zdr": true } } as object),');
  });
});
