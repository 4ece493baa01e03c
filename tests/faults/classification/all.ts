/** Every failure of a status that we know, by whom it is. */
import { anthropic } from './anthropic.js';
import { azure } from './azure.js';
import { bedrock } from './bedrock.js';
import type { Case } from './case.js';
import { gemini } from './google.js';
import { hosts } from './hosts.js';
import { makers } from './makers.js';
import { openai } from './openai.js';
import { servers } from './servers.js';

export const refusals: readonly Case[] = [openai, azure, anthropic, gemini, bedrock, hosts, makers, servers].flat();
