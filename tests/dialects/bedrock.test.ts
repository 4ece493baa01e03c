import { bedrockFixture } from './bedrock.js';
import { failuresSuite } from './failures-suite.js';
import { propertiesSuite } from './properties-suite.js';
import { dialectSuite } from './suite.js';

dialectSuite(bedrockFixture);
failuresSuite(bedrockFixture);
propertiesSuite(bedrockFixture);
