/**
 * Rules for errors about the route and not the request, in the order in which they are checked: territory, a window that a code names, money,
 * credential, load, a stopped server, rate limits, a failed generation, an unknown model. An unknown model comes before the credential where
 * the text or the status is one that says no more than that.
 */
import { switchedOff } from './request-rules.js';
import { any, type Rule } from './rule.js';

/** The provider refuses the region that this gateway calls from. */
export const territory: Rule = {
  meaning: 'auth',
  says: any(
    /unsupported countr(?:y|ies)|countr(?:y|ies), regions?,? or territor/,
    /user location is not supported|not (?:yet )?(?:available|supported|allowed|offered) in your (?:country|region|location|area)/,
    /(?:your|this) (?:country|region|location|territory)(?: \w+)? (?:is|are) not (?:supported|allowed|permitted)/,
    /geo-?(?:block|restrict|fenc)|restricted (?:country|territory)|embargo/,
  ),
};

/** A code that names a short window decides: Google's words for one of a minute are those for an account without credit. */
const window: Rule = { meaning: 'rate_limit', codes: /\bper (?:model per )?(?:minute|second)\b|\blimit requests\b/ };

const money: Rule = {
  meaning: 'billing',
  codes: any(
    /\binsufficient (?:\w+ )?(?:quota|balance|funds?|credits?)\b|\bbilling\b|\bpayment\b|\bcredits? (?:limit|exhausted|depleted|balance)/,
    /\bbudget (?:limit )?exceeded|exceeded ?budget|\bnot enough (?:balance|credits?)|arrear|overdue|\bspend(?:ing)? limit/,
    /exceeded current quota|free (?:tier|quota|trial)|not purchased|consumption limit|(?:service|account) quota exceeded|budget limit/,
    /\btoken quota reached\b|\bquotas? exceeded exception\b|out of credits?|monthly|weekly|blocked api access/,
  ),
  says: any(
    /\b(?:insufficient|not enough|not sufficient|out of|run out of|ran out of|used all(?: available)?|no remaining|no available|any|requires more) (?:account |your |api |user )?(?:credits?|funds?|balance)\b/,
    /\bcredits? balance\b|\b(?:balance|credits?|funds?|wallet)(?: \w+){0,3} (?:too low|insufficient|exhausted|depleted|used up|expired|negative|empty|overdue|exceeded)\b/,
    /\bbalance is \$?-?0|can only afford|exceeded your (?:current|monthly|account|plan) quota/,
    /\bbilling (?:hard )?limit|maximum billing|billing details|billing (?:is |has )?not (?:been )?(?:enabled|active|set)|(?:requires?|enable) billing/,
    /\b(?:past due|unpaid|overdue|in arrears|out of budget|over budget)\b|payment (?:is )?(?:required|method|failed|overdue|instrument)|valid (?:payment|credit card)/,
    /\bspend(?:ing)?[ -](?:limit|cap)|(?<!thinking |reasoning |token )budget (?:has been|was) (?:exceeded|reached|exhausted)|reached (?:its|your) budget|exceededbudget/,
    /\b(?:inactive|no active|expired|requires an active|requires a(?: paid)?) subscription|subscription (?:is |has )?(?:expired|inactive|ended|lapsed|required)/,
    /\b(?:reached|exceeded|hit)(?: \S+){0,5} (?:usage|plan|quota|credit|spend) limits?\b|usage limits? (?:reached|exceeded)|out of extra usage|extra usage is required/,
    /\b(?:monthly|weekly|hourly|per[ -](?:month|week)|\d{1,2}[ -]hours?|session)(?: \S+){0,4} (?:limit|quota|allowance|cap|usage|credits?|budget|allocation)\b/,
    /\b(?:limit|quota|allowance|tokens|calls|requests)(?: \S+){0,6} (?:per (?:month|week)|\/ ?month|monthly|this month)\b/,
    /\bfree (?:tier|trial|quota|plan|credits?|allocation)(?: \S+){0,5} (?:exhausted|used up|ended|expired|exceeded|over)\b|trial (?:has )?(?:expired|ended)/,
    /余额|欠费|充值|资源包|账户已/,
  ),
  loosely: /\bbilling\b|\bcredits?\b(?!(?: \w+){0,2} to unlock)|\bpurchase\b|\brecharge\b|top[- ]?up\b|account quota/,
};

/** Providers that do not tell which models exist say "not found, or no access". That is of the model: the same credential serves others. */
const modelOrAccess: Rule = {
  meaning: 'unknown_model',
  says: /\b(?:model|deployment|endpoint)(?: \S+){0,6} (?:not|doesn't|don't|isn't|wasn't) (?:exist|available|(?:be )?found),? or (?:\S+ ){0,4}?(?:not|don't|doesn't|no|lacks?|without) (?:\S+ )?(?:access|permissions?|authori[sz]ed)\b/,
};

const credential: Rule = {
  meaning: 'auth',
  codes: any(
    /\bapi ?key (?:invalid|expired|service blocked|not|disabled|http)|\b(?:invalid|wrong|incorrect|missing) (?:api |access |auth )?(?:key|token)\b/,
    /\bauthenticat|\bunauth|permission (?:denied|error)|access ?denied|\bforbidden\b|unrecognized client|signature|expired ?token|token expired/,
    /\b(?:consumer|account|organization|project|user|key) (?:suspended|disabled|deactivated|restricted|invalid|inactive|blocked)|access terminated|service disabled/,
    /terms required|ip not authorized|not ?authorized|opt in ?required|\bno access\b|model not open|access restricted|invalid credentials?|not verified/,
  ),
  says: any(
    /\b(?:invalid|incorrect|wrong|missing|expired|unknown|revoked|no|bad|valid|provide an?)(?: or \w+)?(?: \w+)? ?(?:api[ -]?keys?|api[ -]tokens?|x-api-key|access (?:token|key)|auth(?:entication|orization)?(?: \w+)? (?:token|credentials?|header)|(?:auth |aws |cookie )?credentials|subscription key|bearer token|security token)\b/,
    /\bapi[ -]?key(?: \S+){0,4} (?:not valid|invalid|incorrect|expired|not found|revoked|disabled|leaked|missing|suspended|blocked|deleted|unauthori[sz]ed)\b/,
    /\b(?:security|access|api|auth|authentication|bearer|session|oauth) (?:token|key)(?: \S+){0,6} (?:invalid|expired|revoked|not valid)\b|signature (?:expired|does not match|we calculated)/,
    /\b(?:must be verified|verify (?:your )?organi[sz]ation|unregistered callers|bad credentials|proxy server token|operation not allowed)\b|^(?:invalid|expired|missing|wrong) (?:token|key)\W*$/,
    /\b(?:authentication|authori[sz]ation|login|sign-?in) (?:fail\w*|error|required|method|unsuccessful)|could not (?:be )?authenticate|failed to authenticate/,
    /\bnot authori[sz]ed|\bunauthori[sz]ed\b|permission (?:to |denied|for )|(?:lacks?|missing|insufficient|not have|without)(?: \w+){0,3} (?:permissions?|scopes?)\b|access (?:is |was |has been )?(?:denied|terminated|restricted|revoked|blocked)/,
    /\b(?:organi[sz]ation|account|project|team|workspace|consumer|tenant|api key)(?: \S+){0,4} (?:has been|is|was)(?: \w+)? (?:restricted|suspended|disabled|deactivated|terminated|blocked|not active|banned|locked|deleted)\b/,
    /\b(?:does not|doesn't|don't|do not|not) have access\b|\bno access to\b|(?:accept|acceptance|accepted)(?: \w+){0,3} terms|terms (?:acceptance|of use must)|use case details have not/,
    /\bapi has not been (?:used|enabled)|is disabled for this resource|approved private endpoint|virtual network|public access is disabled|data policy|privacy settings|guardrail restrictions|only authorized for use|ip address(?: \w+){0,2} (?:not|blocked)/,
    /\bnot (?:yet )?available (?:for|on|to|with) (?:this|your) (?:subscription|plan|account|tier|organi[sz]ation|project|team)|upgrade your (?:plan|account|tier)|(?:subscription|plan|tier)(?: \w+)? (?:does not|doesn't) (?:include|allow|cover|have)/,
    /\b(?:key|team|user|token|project)(?: \S+)? (?:is )?not allowed to (?:access|use|call)|all providers have been ignored|no allowed providers/,
  ),
  loosely: /\bforbidden\b|\bcredentials?\b|\bsuspended\b|\bpermissions?\b|\bapi[ -]?key\b|access denied/,
};

const pace: Rule = {
  meaning: 'rate_limit',
  codes: any(
    /\brate ?limit|too many requests|throttl|\brequests? limit\b|(?:request|token) quota exceeded|\b(?:rpm|tpm|qps|rps)\b|in flight budget/,
    /\bper (?:minute|second|hour)\b|\bquota exceeded\b|\bslow down\b|burst rate/,
  ),
  says: any(
    /\brate[ -]?limit(?:s|ed|ing)?\b(?: \S+){0,8} (?:reached|exceeded|hit|limited|of|on|for)|(?:reached|exceeds?|exceeded|hit|over|crossed|would exceed)(?: \S+){0,6} rate[ -]?limits?|rate[ -]limited/,
    /\btoo many (?:requests|api calls|tokens, please|calls)|\bthrottled\b|throttling|\bslow down\b|request limit (?:reached|exceeded|hit)|request rate is too high|requests? rate (?:is|too|increased)/,
    /\b(?:requests?|tokens?|queries|calls)(?: \(\w+\))? (?:per|\/) ?(?:min|sec|hour)|\b(?:rpm|tpm|qps|rps|qpm)\b|quota(?:\(s\))? exceeded|exceeded(?: \S+){0,4} quota/,
  ),
  loosely: /rate[ -]?limit|throttl|\bquota\b|per[ _-](?:minute|second|hour)|频率|速率/,
};

const load: Rule = {
  meaning: 'capacity',
  codes: any(
    /\boverload|\bcapacity\b|\bqueue\b|concurren|not ?ready|\bbusy\b|\bloading\b|unavailable error|scaling up|no (?:healthy|available|instances?)/,
  ),
  says: any(
    /\boverloaded\b|\b(?:at|over|out of|no|insufficient|lacks?|not enough|maximum|full) capacity|capacity (?:is |has been |was |temporarily |currently |limit |limits )*(?:exceeded|reached|full|exhausted|unavailable|constrain)/,
    /\bqueue(?: \S+){0,6} full\b|full queue|queue (?:is )?(?:exceeded|overflow|limit|too long|depth)|queue_?full/,
    /\bconcurren\w+(?: \S+){0,3} (?:limit|exceed|reach|quota|high)|(?:limit|maximum|max|many|exceeded)(?: \S+){0,3} concurren|并发/,
    /\bhigh (?:demand|traffic|load|volume)|peak load|heavy (?:load|traffic)|spikes in demand|surge in/,
    /\b(?:too|is|are|currently|server|service|model|llm|system|temporarily|very) busy\b|\bbusy,? (?:please|try|retry)/,
    /\b(?:is|currently|still|being) load(?:ing|ed)\b|\bloading model|not (?:yet )?(?:ready|loaded|warmed)\b|cold[ -]start|warming up|scal(?:ing|ed) (?:up|to zero)|starting up|being (?:created|deployed|provisioned|restarted)/,
    /\bno (?:healthy|available|free|idle) \w+|\bno (?:instances?|slots?|workers?|deployments?|replicas?|gpus?|resources?|servers?)(?: \S+)? available|out of (?:gpus?|slots|resources)/,
    /\btemporarily (?:unavailable|overloaded|out of|at|down)|(?:worker|pending|in[ -]flight|parallel|simultaneous|queued)(?: \S+){0,3} requests?(?: \S+){0,2} (?:limit|exceeded|reached)|max parallel request/,
    /\b(?:endpoint|deployment|instance|space)(?: \S+)? is (?:paused|stopped|sleeping|initiali[sz]ing)/,
  ),
};

/** What serves a model. Containers are not in the list: a client may mean its own. */
const host =
  '(?:deployments?|endpoints?|instances?|replicas?|servers?|services?|pods?|workers?|clusters?|machines?|vms?|backends?|nodes?)';
const unit = '(?:deployments?|endpoints?|instances?|replicas?|servers?|pods?|workers?|machines?|nodes?)';
const up =
  '(?:running|started|active|activated|deployed|online|live|up|serving|healthy|provisioned|initiali[sz]ed|alive|ready)';
const resting =
  '(?:stopped|paused|suspended|sleeping|asleep|went to sleep|cold|expired|exited|preempted|evicted|quarantined|powered (?:off|down)|spun down|under maintenance|resuming|draining|hibernat\\w+|inactive|offline|down|unhealthy|unloaded|undeployed|released|deleted|terminated|deactivated|shut ?down|(?:re)?starting|provisioning|creating|updating|deploying|initiali[sz]ing|(?:turned|switched) off|(?:auto)?scaled (?:down )?to (?:zero|0))';
const words = (most: number) => `(?: [^\\s.;,]+){0,${most}}?`;

/** The server of the model is not running: stopped, paused, scaled to zero, or still starting. */
const stopped: Rule = {
  meaning: 'capacity',
  hint: /\b(?:deployment|endpoint|instance|replica|server|service|pod|worker|cluster|machine|vm|backend|node|model|weight)s?\b/,
  says: any(
    new RegExp(
      `\\b${host}${words(4)} (?:is|are|was|were|has|have|been|being|state|status|state:|status:)${words(3)} ${resting}(?![\\w-])`,
    ),
    new RegExp(`\\b${host} ${resting}(?![\\w-])`),
    new RegExp(`\\b${host}${words(4)} (?:not|isn't|aren't|wasn't|never)${words(3)} (?:${up}|in service)(?![\\w-])`),
    new RegExp(
      `\\bmodel(?: \\S*[\\d/:.-]\\S*)? (?:is|was|has)(?: (?:currently|still|been|being|now)){0,2} (?:${resting}|not (?:\\w+ )?${up})(?![\\w-])`,
    ),
    new RegExp(
      `\\b${host}${words(4)} (?:must|needs? to|has to|should) be${words(1)} (?:(?:re)?started|resumed|woken|${up})\\b`,
    ),
    new RegExp(
      `\\b${host}${words(5)} (?:in (?:the |a |its )?(?:current )?(?:state|status)\\b|(?:state|status)(?: is|:) (?:failed|error|pending)\\b)`,
    ),
    new RegExp(
      `\\b${host}${words(4)} (?:cannot|can't|not|unable to) (?:serve|accept|receiv|serving|accepting)\\w*(?: \\w+)? (?:traffic|requests)\\b(?! (?:with|that|of|which))`,
    ),
    /\b(?:replica|instance|worker|node) count (?:is|of|:|=) (?:0|zero)\b|\b(?:model|weights)(?: \S+){0,2} being (?:downloaded|pulled|started|resumed|provisioned)/,
    /\b(?:current|deployment|endpoint|instance|service) (?:state|status)(?: is|:)? (?:stopped|paused|creating|updating|deleting|failed|pending|starting|provisioning|inactive)\b/,
    new RegExp(`\\b(?:no|any|zero|0)${words(1)} ${up}${words(1)} ${unit}\\b|\\bno ${unit}${words(4)} ${up}\\b`),
    new RegExp(
      `\\b(?:has|have|with|there (?:is|are)|to|at)(?: currently)? (?:no|zero|0) ${unit}\\b(?! (?:propert|field|attribut|key|argument|param))`,
    ),
  ),
};

/** Overload in words that rate limits use as well. */
const strain: Rule = {
  meaning: 'capacity',
  loosely:
    /\bqueue|\bcapacity\b|concurren|\bbusy\b|resource ?exhausted|try again (?:later|soon|shortly)|system memory|no available/,
};

/** The provider accepted the request, but the generation failed. */
const generation: Rule = {
  meaning: 'server_error',
  codes:
    /\btool use failed|json validate failed|model (?:stream )?error(?: exception)? \||\bgeneration\b|engine (?:error|dead)|inference error/,
  says: any(
    /\bdegraded function|function(?: \S+){0,4} degraded|failed to (?:call a function|generate json)|failed during generation|incomplete generation|model produced invalid/,
    /\bcuda (?:error|out)|\bout of memory\b|\bnccl\b|\btraceback \(|segmentation fault|runner process|enginecore|engine ?dead|inference exception|exit status \d/,
    /\bupstream connect error|fault filter abort|connection (?:refused|reset by|aborted)|\bjson: unsupported|http request (?:was sent )?to (?:an )?https|\bssl (?:error|handshake)/,
  ),
  loosely: /\btim(?:ed|e)[ -]?out\b|took too long|deadline (?:expired|exceeded)|shutting down/,
};

/** The route's model does not exist or is not for chat: the catalogue is wrong, not the client. */
const model: Rule = {
  meaning: 'unknown_model',
  codes: any(
    /\b(?:model|deployment|endpoint|resource)(?: or model)?(?: is)? (?:not|does not) (?:found|exist|available|supported|active|deployed)|\bno such model|\bunknown model|\binvalid model/,
    /\bmodel (?:decommissioned|deprecated|retired|removed)|not found error model|invalid endpoint/,
  ),
  says: any(
    /\b(?:model|deployment|endpoint)(?: \S+){0,6} (?:does not|doesn't|do not|not) exist\b|\b(?:model|deployment)(?: \S+){0,4} (?:was |is |were |could )?not (?:be )?found\b|\bno such (?:model|deployment)/,
    /\bunknown model\b|\binvalid model\b|model (?:identifier|id|name)(?: \S+)? (?:is |was )?(?:invalid|unknown|not (?:valid|recogni[sz]ed))|not a (?:valid|known|recogni[sz]ed) model|model not exist/,
    /\bunable to access(?: \S+)? model|(?:model|deployment)(?: \S+){0,3} (?:has been |is |was |been )(?:now )?(?:decommissioned|deprecated|retired|removed|discontinued|shut ?down|sunset)|(?:reached (?:its )?end of life|no longer (?:available|served|offered))/,
    /\bon-demand throughput (?:isn't|is not) supported|inference profile|marked by provider as legacy/,
    /\bnot a chat model|does not work with the specified model|only supported in v1\/|\bmodel(?: that you provided| \S+)? (?:does not|doesn't) support (?:the |this )?(?:chat completions?|generatecontent|(?:\S+ )?(?:api|action|endpoint|operation)\b)/,
    /\b(?:action|operation|api|endpoint) (?:does not|doesn't) support the (?:\w+ )?model\b|\bnot servable in (?:the )?(?:region|location)\b|\b(?:model|api)(?: \S+)? is enabled only for api[ -]versions?\b/,
    /\bno endpoints found (?:for|matching)|could not route to|no route for|not found for (?:account|api version)|provider not provided|not supported by any provider|not supported for task/,
    /\b(?:requested|specified|selected|given|provided) model(?: \S+)? is not (?:available|supported|deployed|enabled|accessible|served)|^(?:the )?model (?:\S+ )?is (?:not|currently not) (?:available|supported|deployed|enabled|accessible|served)/,
    /\bmodel(?: \S+)? not (?:available|deployed|enabled|active|served)\b|api version(?: \S+)? (?:is )?not supported|unsupported api version/,
  ),
};

/** In the order of checking. The daily quota is checked before `money`, and options that are off before a stopped server, which can sound alike. */
export const routeRules: readonly Rule[] = [
  window,
  money,
  modelOrAccess,
  credential,
  load,
  switchedOff,
  stopped,
  pace,
  strain,
  generation,
  model,
];

/** The same where the status is that of something missing: words about access then only advise to check it. */
export const missingRules: readonly Rule[] = [model, ...routeRules];
