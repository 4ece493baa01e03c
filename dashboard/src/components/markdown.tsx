/**
 * Shows Markdown. The text is parsed to tokens and these become elements, so no HTML is ever made: tags in the text stay text, links
 * go only to the web, and pictures are links, because the page loads nothing from elsewhere.
 */
import { Lexer, type Token, type Tokens } from 'marked';
import { Fragment, memo, type ReactNode } from 'react';
import { classNames } from './class-names.js';
import { CopyButton } from './copy-button.js';

export default memo(function Markdown({ text }: { text: string }) {
  return (
    <div className="flex min-w-0 flex-col gap-2.5 wrap-anywhere">{blocks(new Lexer({ gfm: true }).lex(text))}</div>
  );
});

function blocks(tokens: readonly Token[]): ReactNode {
  return tokens.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the blocks of a text never move.
    <Fragment key={index}>{block(token)}</Fragment>
  ));
}

function block(token: Token): ReactNode {
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading':
      return <p className={classNames('font-semibold', token.depth === 1 && 'text-lg')}>{inline(token.tokens)}</p>;
    case 'code':
      return <Code code={token.text} language={token.lang} />;
    case 'blockquote':
      return (
        <blockquote className="flex flex-col gap-2 border-l-2 border-line pl-3 text-ink-2">
          {blocks(token.tokens ?? [])}
        </blockquote>
      );
    case 'list':
      return <List list={token as Tokens.List} />;
    case 'table':
      return <Grid table={token as Tokens.Table} />;
    case 'hr':
      return <hr className="border-line" />;
    case 'html':
      return <p className="whitespace-pre-wrap">{token.raw.trimEnd()}</p>;
    default:
      return <p className="whitespace-pre-wrap">{('tokens' in token && inline(token.tokens)) || token.raw}</p>;
  }
}

function List({ list }: { list: Tokens.List }) {
  const Tag = list.ordered ? 'ol' : 'ul';
  return (
    <Tag
      className={classNames('flex flex-col gap-1 pl-5', list.ordered ? 'list-decimal' : 'list-disc')}
      {...(list.ordered && { start: Number(list.start) || 1 })}
    >
      {list.items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the items of a text never move.
        <li key={index}>
          {item.task && <span aria-hidden="true">{item.checked ? '☑ ' : '☐ '}</span>}
          {item.tokens.map((token, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: as above.
            <Fragment key={at}>
              {token.type === 'text' ? (inline((token as Tokens.Text).tokens) ?? token.raw) : block(token)}
            </Fragment>
          ))}
        </li>
      ))}
    </Tag>
  );
}

function Grid({ table }: { table: Tokens.Table }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls.
    <div
      aria-label="Table"
      className="overflow-x-auto rounded-md border border-line"
      role="group"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
      tabIndex={0}
    >
      <table className="w-full border-collapse text-sm">
        <thead>
          <tr>
            {table.header.map((cell, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the cells of a text never move.
              <th className="border-b border-line px-2.5 py-1.5 text-left font-medium" key={index} scope="col">
                {inline(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: as above.
            <tr key={index}>
              {row.map((cell, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: as above.
                <td className="border-b border-line px-2.5 py-1.5 align-top" key={at}>
                  {inline(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Code({ code, language }: { code: string; language?: string | undefined }) {
  return (
    <div className="overflow-hidden rounded-md border border-line bg-surface">
      <div className="flex h-8 items-center justify-between border-b border-line pl-3 text-xs text-ink-3">
        {language || 'Code'}
        <CopyButton label="Copy this code" text={code} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <pre className="overflow-x-auto p-3 text-xs leading-5 wrap-normal focus-visible:-outline-offset-2" tabIndex={0}>
        <code>{code}</code>
      </pre>
    </div>
  );
}

function inline(tokens: readonly Token[] | undefined): ReactNode {
  return tokens?.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never move.
    <Fragment key={index}>{span(token)}</Fragment>
  ));
}

function span(token: Token): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong>{inline(token.tokens)}</strong>;
    case 'em':
      return <em>{inline(token.tokens)}</em>;
    case 'del':
      return <del>{inline(token.tokens)}</del>;
    case 'codespan':
      return <code className="rounded-sm bg-surface px-1 py-0.5 text-[0.8125em]">{token.text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return <WebLink href={token.href}>{inline(token.tokens)}</WebLink>;
    case 'image':
      return <WebLink href={token.href}>{token.text || token.href}</WebLink>;
    case 'escape':
      return token.text;
    default:
      return 'tokens' in token && token.tokens ? inline(token.tokens) : token.raw;
  }
}

/** Anything but a web address stays text. */
function WebLink({ href, children }: { href: string; children: ReactNode }) {
  if (!/^(https?:|mailto:)/i.test(href)) return children;
  return (
    <a className="text-accent underline underline-offset-2" href={href} rel="noreferrer noopener" target="_blank">
      {children}
    </a>
  );
}
