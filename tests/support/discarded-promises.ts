/**
 * Finds promises in the gateway's source that nobody waits for and that may reject: a rejection there stops the process. Allowed are
 * those that end in `.catch`, and those of functions that catch what they wait for. A method of an interface is believed where its
 * comment says "Never rejects". An error that code throws by itself, without waiting, is not looked for: that is a fault of the
 * program, which ends the process on purpose.
 */
import { resolve as absolute, relative } from 'node:path';
import * as ast from 'typescript/unstable/ast';
import { API, type Project, SignatureKind, type Type, TypeFlags } from 'typescript/unstable/sync';

const { SyntaxKind } = ast;

/** Methods of packages whose promises do not reject. */
const trusted: Readonly<Record<string, string>> = {
  'Worker.terminate': 'fulfils when the thread has ended',
  'ParquetWriter.write': 'works at once on a buffer in memory, and throws',
  'ParquetWriter.finish': 'works at once on a buffer in memory, and throws',
};

/** Each as `file:line expression`. */
export function discardedPromises(configFile: string, isSearched: (path: string) => boolean): string[] {
  const root = absolute(configFile, '..');
  const api = new API({ cwd: root });
  try {
    const project = api.updateSnapshot({ openProjects: [configFile] }).getProject(configFile);
    if (!project) throw new Error(`${configFile} is no project`);
    return new Search(project, root).run(isSearched);
  } finally {
    api.close();
  }
}

type FunctionLike = ast.Node & { body?: ast.Node; name?: ast.Node; modifiers?: readonly ast.Node[] };

class Search {
  private readonly promises = new Map<number, boolean>();
  /** What is known of functions and properties. */
  private readonly declared = new Map<ast.Node, boolean>();

  constructor(
    private readonly project: Project,
    private readonly root: string,
  ) {}

  run(isSearched: (path: string) => boolean): string[] {
    const { program } = this.project;
    const files = program.getSourceFileNames().filter((name) => isSearched(relative(this.root, name)));
    return files.flatMap((name) => {
      const file = program.getSourceFile(name)!;
      const discarded = new Set<ast.Node>();
      visit(file, (node) => {
        if (ast.isExpressionStatement(node) || ast.isVoidExpression(node)) addValues(node.expression, discarded);
        else if (isFunction(node) && isAsync(node)) discarded.add(node);
        else if (isFunction(node) && ast.isCallExpression(node.body)) discarded.add(node.body);
      });
      const nodes = [...discarded].filter(mayBePromise);
      const types = this.project.checker.getTypeAtLocation(nodes);
      return nodes
        .filter((node, i) => isFunction(node) || this.isPromise(types[i]))
        .filter((node) => !this.settles(node) && this.isDiscarded(node))
        .map((node) => this.place(file, node));
    });
  }

  /** A function written as an argument discards what it returns where its caller does not look at that. */
  private isDiscarded(node: ast.Node): boolean {
    if (isFunction(node)) return this.isVoid(node);
    return !isFunction(node.parent) || this.isVoid(node.parent);
  }

  /** Whether a promise of this expression, or of this function, never rejects. */
  private settles(node: ast.Node): boolean {
    if (isFunction(node)) return this.functionSettles(node);
    if (isWrapped(node)) return this.settles(node.expression);
    if (ast.isConditionalExpression(node)) return this.isSafe(node.whenTrue) && this.isSafe(node.whenFalse);
    if (ast.isBinaryExpression(node)) return this.isSafe(node.left) && this.isSafe(node.right);
    if (ast.isNewExpression(node)) {
      const [executor] = node.arguments ?? [];
      return executor !== undefined && isFunction(executor) && executor.parameters.length < 2;
    }
    if (ast.isCallExpression(node)) return this.callSettles(node);
    if (!ast.isIdentifier(node) && !ast.isPropertyAccessExpression(node)) return false;
    const declared = this.project.checker.getSymbolAtLocation(node)?.valueDeclaration?.resolve();
    if (!declared) return false;
    if (ast.isVariableDeclaration(declared) && declared.initializer) return this.isSafe(declared.initializer);
    return ast.isPropertyDeclaration(declared) ? this.valuesSettle(declared) : saysNeverRejects(declared);
  }

  /** Whether every promise that its class assigns to a property never rejects. */
  private valuesSettle(property: ast.PropertyDeclaration): boolean {
    const known = this.declared.get(property);
    if (known !== undefined) return known;
    this.declared.set(property, true);
    const name = (property.name as ast.Identifier).text;
    const values = property.initializer ? [property.initializer] : [];
    visit(property.parent, (node) => {
      if (!ast.isBinaryExpression(node) || !ast.isPropertyAccessExpression(node.left)) return;
      const isAssigned = assignments.has(node.operatorToken.kind);
      if (isAssigned && (node.left.name as ast.Identifier).text === name) values.push(node.right);
    });
    const settle = values.every((each) => this.isSafe(each));
    this.declared.set(property, settle);
    return settle;
  }

  private callSettles(call: ast.CallExpression): boolean {
    const { expression: callee, arguments: args } = call;
    if (ast.isPropertyAccessExpression(callee)) {
      const { text: name } = callee.name as ast.Identifier;
      const of = callee.expression;
      const areSafe = args.every((each) => this.isSafeCallback(each));
      if (name === 'catch' || (name === 'then' && args.length === 2)) return areSafe;
      if (name === 'then' || name === 'finally') return areSafe && this.settles(of);
      if (ast.isIdentifier(of) && of.text === 'Promise') return name === 'allSettled' || this.areSafe(args[0]);
    }
    const declared = this.project.checker.getResolvedSignature(call)?.declaration?.resolve();
    return declared !== undefined && this.functionSettles(declared);
  }

  /** The argument of `Promise.all` and its like. */
  private areSafe(list: ast.Node | undefined): boolean {
    if (list === undefined) return true;
    if (ast.isArrayLiteralExpression(list)) return list.elements.every((each) => this.isSafe(each));
    if (!ast.isCallExpression(list) || !ast.isPropertyAccessExpression(list.expression)) return this.isSafe(list);
    return (list.expression.name as ast.Identifier).text === 'map' && this.isSafeCallback(list.arguments[0]!);
  }

  private isSafe(node: ast.Node): boolean {
    return !this.isPromise(this.project.checker.getTypeAtLocation(node)) || this.settles(node);
  }

  private isSafeCallback(node: ast.Node): boolean {
    return !isFunction(node) || this.functionSettles(node);
  }

  private functionSettles(declared: ast.Node): boolean {
    const known = this.declared.get(declared);
    if (known !== undefined) return known;
    // A function that calls itself is as good as the rest of it.
    this.declared.set(declared, true);
    const { body } = declared as FunctionLike;
    const settles = body ? this.bodySettles(body) : saysNeverRejects(declared) || isTrusted(declared);
    this.declared.set(declared, settles);
    return settles;
  }

  private bodySettles(body: ast.Node): boolean {
    if (!ast.isBlock(body)) return ast.isAwaitExpression(body) ? this.isSafe(body.expression) : this.isSafe(body);
    let settles = true;
    const look = (node: ast.Node): void => {
      if (!settles || isFunction(node)) return;
      if (ast.isTryStatement(node) && node.catchClause) {
        look(node.catchClause);
        if (node.finallyBlock) look(node.finallyBlock);
        return;
      }
      if (ast.isThrowStatement(node) || (ast.isForOfStatement(node) && node.awaitModifier)) settles = false;
      else if (ast.isAwaitExpression(node) && !this.isSafe(node.expression)) settles = false;
      else if (ast.isReturnStatement(node) && node.expression && !ast.isAwaitExpression(node.expression))
        settles &&= this.isSafe(node.expression);
      node.forEachChild(look);
    };
    look(body);
    return settles;
  }

  private isPromise(type: Type | undefined): boolean {
    if (!type) return false;
    let is = this.promises.get(type.id);
    if (is === undefined) {
      const { checker } = this.project;
      const present = checker.getNonNullableType(type) ?? type;
      // A reply of Fastify has only `then`.
      is = ['then', 'catch'].every((name) => checker.getPropertyOfType(present, name) !== undefined);
      this.promises.set(type.id, is);
    }
    return is;
  }

  /** Whether whoever calls this callback does not look at what it returns. */
  private isVoid(callback: ast.Node): boolean {
    const { checker } = this.project;
    const expected = checker.getContextualType(callback as ast.Expression);
    const signatures = expected ? checker.getSignaturesOfType(expected, SignatureKind.Call) : [];
    const returned = signatures.map((each) => checker.getReturnTypeOfSignature(each));
    return returned.length > 0 && returned.every((type) => type && (type.flags & TypeFlags.Void) !== 0);
  }

  private place(file: ast.SourceFile, node: ast.Node): string {
    const line = file.text.slice(0, node.end).split('\n').length;
    const text = file.text
      .slice(node.pos, node.end)
      .replaceAll(/\/\/.*|\s+/g, ' ')
      .trim();
    return `${relative(this.root, file.fileName)}:${line} ${text.slice(0, 100)}`;
  }
}

function visit(node: ast.Node, call: (node: ast.Node) => void): void {
  node.forEachChild((child) => {
    call(child);
    visit(child, call);
  });
}

/** The operands that decide the value of an expression which nobody uses. */
function addValues(node: ast.Node, values: Set<ast.Node>): void {
  if (isWrapped(node)) addValues(node.expression, values);
  else if (ast.isConditionalExpression(node)) {
    addValues(node.whenTrue, values);
    addValues(node.whenFalse, values);
  } else if (ast.isBinaryExpression(node) && isLogical(node.operatorToken.kind)) {
    addValues(node.left, values);
    addValues(node.right, values);
  } else values.add(node);
}

const isLogical = (kind: ast.SyntaxKind): boolean =>
  kind === SyntaxKind.AmpersandAmpersandToken ||
  kind === SyntaxKind.BarBarToken ||
  kind === SyntaxKind.QuestionQuestionToken ||
  kind === SyntaxKind.CommaToken;

const mayBePromise = (node: ast.Node): boolean =>
  [ast.isCallExpression, isFunction, ast.isIdentifier, ast.isPropertyAccessExpression, ast.isNewExpression].some((is) =>
    is(node),
  );

const assignments = new Set([SyntaxKind.EqualsToken, SyntaxKind.QuestionQuestionEqualsToken]);

function isWrapped(node: ast.Node): node is ast.Node & { expression: ast.Expression } {
  return ast.isParenthesizedExpression(node) || ast.isNonNullExpression(node) || ast.isAsExpression(node);
}

function isFunction(node: ast.Node): node is ast.ArrowFunction | ast.FunctionExpression {
  return ast.isArrowFunction(node) || ast.isFunctionExpression(node);
}

const isAsync = (node: ast.Node): boolean =>
  isFunction(node) && (node.modifiers?.some(({ kind }) => kind === SyntaxKind.AsyncKeyword) ?? false);

function saysNeverRejects(declared: ast.Node): boolean {
  const { name } = declared as FunctionLike;
  return name !== undefined && /never rejects/i.test(declared.getSourceFile().text.slice(declared.pos, name.end));
}

function isTrusted(declared: ast.Node): boolean {
  const names = [declared.parent as FunctionLike, declared as FunctionLike].map(({ name }) => name as ast.Identifier);
  return names.map((name) => name?.text).join('.') in trusted;
}
