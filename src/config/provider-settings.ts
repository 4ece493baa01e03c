/** The operator's settings for providers of the catalogue. */
import { z } from 'zod';
import { agreement } from '../base/data-policy.js';
import {
  credential,
  fields,
  httpAddress,
  isProviderId,
  providerIdExpected,
  text,
  yesOrNo,
} from '../base/yaml-fields.js';

const provider = fields({
  api_key: credential.nullish(),
  base_url: httpAddress.nullish(),
  agreement: agreement.nullish(),
  stored_objects: yesOrNo.nullish(),
  api_key_file: text.nullish(),
});

export const providers = z.record(z.string().refine(isProviderId), provider.nullish(), {
  error: (issue) =>
    issue.code === 'invalid_key' ? providerIdExpected : 'a mapping from provider ids to their settings',
});

export type ProviderValues = z.infer<typeof providers>;
