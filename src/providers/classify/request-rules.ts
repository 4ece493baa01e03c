/** Rules for errors about the request itself. */
import { any, type Rule } from './rule.js';

/** Too long for the model, against a content policy, or a field that is not accepted. Checked before all other rules but territory. */
export const plainRejection: Rule = {
  meaning: 'rejected',
  codes: any(
    /\bcontext (?:length|window|size)|exceed context|prompt too long|tokens limit reached|request too large/,
    /\bcontent (?:filter|policy|management)|responsible ai|data inspection|sensitive content|prompt blocked|\bmoderation|invalid prompt|prohibited content/,
    /\bextra forbidden|(?:unsupported|unknown|unrecognized|missing required) (?:parameter|param|argument|field)s?\b|unsupported params|not supported error/,
    /\b(?:string|array|integer|decimal|object) (?:above|below|too)|invalid (?:type|image|json|function|schema)|image parse error|literal error|json invalid/,
  ),
  says: any(
    /\bcontext[ -](?:length|window|size|limit)|maximum (?:context|prompt|input|sequence|token)[ -]?(?:length|size|count)?|(?:input|prompt) (?:length|token count|tokens|is too long)(?: \S+){0,6} (?:exceed|too long|greater|longer|larger|maximum)/,
    /\b(?:prompt|input|message|messages|conversation)(?: \S+)? (?:is|are|was) too (?:long|large)|too many (?:input |prompt )?tokens(?:: | in )|tokens? (?:count )?(?:\S+ )?exceeds? (?:the )?(?:model|maximum|max|context)/,
    /\bcontent (?:filter|management policy|policy violation|moderation)|content (?:violates|exists risk)|(?:prompt|input|content|output|response|image|text|message)s?(?: \S+){0,3} (?:flagged|filtered)\b|(?:prompt|input|output)(?: \S+){0,2} blocked\b/,
    /\bviolat\w+ (?:our |the )?(?:usage|content|safety) (?:policy|policies|guidelines)|safety (?:system|check|filter)|(?:inappropriate|unsafe|sensitive) (?:content|information|or sensitive)|considered high risk|敏感|不安全/,
    /\bextra (?:inputs|fields|keys)(?: \w+)? not (?:permitted|allowed)|extraneous key|unrecogni[sz]ed (?:request )?(?:arguments?|parameters?|fields?|keys?)|unknown (?:parameter|field|variant|argument|name)\b/,
    /\bendpoints? found that (?:supports?|can handle)|(?:image|audio|video|tool|file|vision)s?(?: \S+){0,2} (?:input|use|calling|content) (?:is |are )?not (?:supported|enabled)|does(?:n't| not) support (?:\S+ )?(?:image|audio|video|tool|function|vision|file|json|stream|system|logprobs)/,
  ),
};

/** What a request may ask for: a field name, or a feature that such a field stands for. */
const option =
  '(?:\\w+_\\w+|(?:top |prompt )?log ?prob\\w*|tools?|tool[ -](?:choice|use|support|call\\w*|pars\\w+)|function[ -]?call\\w*|structured outputs?|json(?: mode| schema| object)?|(?:guided|constrained) \\w+|grammars?|(?:chat )?templates?|reasoning|thinking|streaming|images?|audio|video|vision|multi-?modal|files?|attachments?|beam search|seeds?|stop (?:sequences?|tokens?|strings?|words?)|penalt\\w+|temperature|sampling|logit bias|prefill|suffix|echo|speculative|parallel|response format|prompt caching|web search|citations?|system (?:prompt|message|role)s?|options?|parameters?|params?|arguments?|features?|flags?|modes?|inputs?|outputs?)(?! (?:service|server|worker|api|endpoint|backend|cluster|model|pool|queue|storage|store)s?\\b)';
const off =
  "(?:disabled|deactivated|(?:is|are|was|were) off|(?:turned|switched) off|(?:not|isn't|aren't|wasn't|weren't)(?: currently| yet| been)? (?:enabled|activated|active|allowed|configured|(?:turned|switched) on))";
/** Excludes what the account lacks: the request is not the cause. */
const notOfAccount =
  '(?! (?:for|on|in|by|with) (?:your|this|the) (?:\\w+ )?(?:account|organi[sz]ation|project|plan|subscription|tier|team|key|workspace))';
/** What can be off without the request being the cause. */
const notAnOption =
  '(?:access|api|accounts?|users?|keys?|billing|organi[sz]ation|project|subscription|plan|tier|team|login|models?|services?|servers?|workers?|endpoints?|deployments?|instances?|clusters?|nodes?|backends?|engine|inference|generation|system|platform|queues?|pools?|gateway|router|provider|network|storage|store|traffic|region|zone|gpus?|hardware)';

/** The request asks for a feature that is switched off at the provider, which no retry changes. */
export const switchedOff: Rule = {
  meaning: 'rejected',
  hint: /\b(?:disabled|deactivated|off|enabled|activated|active|allow(?:ed|s)?|permit|configured|forbids?|disallows?|turned|switched|blocked|without|with no|start|launch|run|configure|build)\b| --[a-z]/,
  says: any(
    new RegExp(`\\b${option}[:,]?(?: [^\\s.;,]+){0,5}? ${off}\\b${notOfAccount}`),
    new RegExp(
      `(?:^|[.;:!] )(?:(?!${notAnOption}\\b)[^\\s.;:!]+ ){1,8}(?:is|are|was|were|been) (?:currently )?(?:disabled|not enabled|(?:turned|switched) off)\\b${notOfAccount}`,
    ),
    new RegExp(`\\b${option}(?: [^\\s.;,]+){0,3}? blocked (?:by|in|on)\\b`),
    new RegExp(
      `\\b(?:admin\\w*|operator|owner|host|configuration) (?:has |have )?(?:disabled|blocked|forbids?|disallows?|(?:turned|switched) off)(?: [^\\s.;,]+){0,3}? ${option}`,
    ),
    /\b(?:requires?|(?:re)?start(?:ed)?|(?:re)?launch(?:ed)?|(?:re)?run)(?: [^\s.;]+){0,7} --[a-z]|\b(?:with|via|using|flag) --[a-z]/,
    new RegExp(`\\b(?:start|launch|run|configure|build)(?: [^\\s.;]+){0,3} with(?:out)?(?: [^\\s.;]+){0,2} ${option}`),
    /\b(?:server|deployment|instance|endpoint|host|it) (?:was |is |has been )?(?:started|launched|built|compiled|configured) with(?:out| no)\b/,
    /\b(?:server|deployment|instance|endpoint|host|configuration|policy) (?:does not|doesn't) (?:allow|permit)\b/,
  ),
};

/** Words about the request, whatever the status. */
export const requestWords: Rule = {
  meaning: 'rejected',
  codes: /\bnot supported|unsupported|not implemented|unimplemented|invalid (?:value|input|messages?|role)/,
  says: any(
    /\bunsupported\b|\bnot (?:currently |yet )?supported\b|isn't supported|(?:does not|doesn't|do not|don't|cannot) support\b|\bnot implemented\b|\bunimplemented\b|\bnot permitted\b/,
    /\b(?:request|payload|body|entity|prompt|input) (?:body |entity |payload |size )?(?:is )?too (?:large|long|big)\b|\bexceeds? (?:the )?(?:maximum|max|allowed|limit of)\b/,
    /\binvalid (?:value|type|parameter|argument|schema|image|json|role|message|format|request\b(?! error)|input|prompt|tool|response_format|content (?:type|part|block))|\bmust be (?:one of|less|greater|between|at least|at most|a valid)/,
    /\bvalidation (?:error|failed)|failed to (?:deserialize|parse (?:the )?(?:request|body|json|input|messages))|cannot be (?:empty|blank|null)|at least one message|roles? must alternate|missing required/,
    /\bcontent policy|usage polic|moderation|prohibited\b|\bflagged\b/,
  ),
};

/** A server error whose words add nothing to its status. */
export const serverWords: Rule = {
  meaning: 'server_error',
  says: /\bbad gateway|gateway time-?out|internal (?:server )?error|server error|service unavailable|something went wrong|unexpected error|unknown error|unable to process/,
};
