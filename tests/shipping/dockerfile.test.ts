import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../../src/http/openapi/document.js';
import { assignments, dockerStages, execForm, manifest, only, root, textOf } from './shipped-files.js';

const [before, build, image] = dockerStages();
const instructions = dockerStages().flat();

describe('Dockerfile', () => {
  it('has a base that is pinned to a tag of Node 24, the same for both stages', () => {
    expect(dockerStages()).toHaveLength(3);
    expect(only(before!, 'ARG')).toMatch(/^NODE_IMAGE=node:24-[a-z]+-slim$/);
    expect([only(build!, 'FROM'), only(image!, 'FROM')]).toEqual([
      // biome-ignore-start lint/suspicious/noTemplateCurlyInString: as Docker writes a build argument
      '${NODE_IMAGE} AS build',
      '${NODE_IMAGE} AS image',
      // biome-ignore-end lint/suspicious/noTemplateCurlyInString: as Docker writes a build argument
    ]);
  });

  it('runs as a numbered user without rights, after everything that needs them', () => {
    expect(only(image!, 'USER')).toBe('1000:1000');
    const names = image!.map(({ name }) => name);
    expect(names.lastIndexOf('RUN')).toBeLessThan(names.indexOf('USER'));
    expect(names.lastIndexOf('COPY')).toBeLessThan(names.indexOf('USER'));
    expect(image!.filter(({ name, text }) => name === 'COPY' && text.includes('--chown'))).toEqual([]);
  });

  it('is started without a shell, so that SIGTERM arrives, and listens where a container must', () => {
    expect(execForm(only(image!, 'ENTRYPOINT'))).toEqual(['node', '/app/bin/lodestone']);
    expect(execForm(only(image!, 'CMD'))).toEqual(['serve']);
    expect(only(image!, 'STOPSIGNAL')).toBe('SIGTERM');
    expect(assignments(only(image!, 'ENV'))).toEqual({ NODE_ENV: 'production', HOST: '0.0.0.0', PORT: '8787' });
    expect(only(image!, 'EXPOSE')).toBe('8787');
  });

  it('checks its health on a path that there is, with nothing but node', () => {
    const health = only(image!, 'HEALTHCHECK');
    const [program, , script = ''] = execForm(health.slice(health.indexOf('CMD')));
    expect(program).toBe('node');
    const path = /(\/\w+)`/.exec(script)![1]!;
    expect(Object.keys(openApiDocument.paths)).toContain(path);
  });

  it('fetches nothing by ADD, carries no secret, and says which version it is', () => {
    expect(instructions.filter(({ name }) => name === 'ADD')).toEqual([]);
    const named = instructions.filter(({ name }) => name === 'ENV' || name === 'ARG').map(({ text }) => text);
    for (const text of named) expect(text).not.toMatch(/key|token|secret|password/i);
    expect(named).toContain(`VERSION=${manifest.version}`);
    expect(only(image!, 'LABEL')).toContain(`licenses="${manifest.license}"`);
  });

  it('copies only what there is, and keeps the context to what the build reads', () => {
    const copied = build!.filter(({ name }) => name === 'COPY').flatMap(({ text }) => text.split(' ').slice(0, -1));
    for (const path of copied) expect(existsSync(join(root, path)), path).toBe(true);
    const rules = textOf('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(rules[0], 'everything is out that is not let in').toBe('*');
    const letIn = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1));
    for (const path of letIn) expect(existsSync(join(root, path)), path).toBe(true);
    for (const secret of ['data', '.git', '.env', 'lodestone.yaml', 'tests']) expect(letIn).not.toContain(secret);
    expect(rules.slice(-1), 'the last rule wins').toEqual(['**/.env*']);
  });
});
