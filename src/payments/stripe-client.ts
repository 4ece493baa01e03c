/** Loads Stripe's package at start, only where `payments.processor` is `stripe`, and bounds the time of its calls. */
import { version } from '../base/version.js';
import type { StripeSettings } from '../config/config.js';
import { ConfigFault } from '../config/config-fault.js';

/** The part of the package that this project uses. */
export interface StripeClient {
  checkout: {
    sessions: {
      create(session: CheckoutParameters, options: { idempotencyKey: string }): Promise<CheckoutSession>;
    };
  };
  webhooks: {
    /** With a tolerance of 0, the caller checks the age. */
    constructEvent(body: Buffer, header: string, secret: string, toleranceSeconds: number): unknown;
  };
}

export interface CheckoutSession {
  id: string;
  url: string | null;
}

interface CheckoutParameters {
  mode: 'payment';
  client_reference_id: string;
  customer_email: string;
  metadata: Record<string, string>;
  payment_intent_data: { description: string; metadata: Record<string, string> };
  line_items: [
    {
      quantity: 1;
      price_data: { currency: 'usd'; unit_amount: number; product_data: { name: string } };
    },
  ];
  billing_address_collection: 'required';
  adaptive_pricing: { enabled: false };
  success_url: string;
  cancel_url: string;
}

interface StripeLibrary {
  default: new (secretKey: string, settings: Record<string, unknown>) => StripeClient;
}

type LoadLibrary = () => Promise<unknown>;

/** A name that the compiler does not resolve, because the package may be absent where the product is built. */
const packageName = 'stripe';
const loadLibrary: LoadLibrary = () => import(/* @vite-ignore */ packageName);

const callMs = 10_000;

export async function openStripe(settings: StripeSettings, load: LoadLibrary = loadLibrary): Promise<StripeClient> {
  const { default: Stripe } = await library(load);
  return new Stripe(settings.secretKey, {
    timeout: callMs,
    maxNetworkRetries: 1,
    telemetry: false,
    appInfo: { name: 'Lodestone', version },
    ...addressOf(settings.apiBase),
  });
}

async function library(load: LoadLibrary): Promise<StripeLibrary> {
  try {
    return (await load()) as StripeLibrary;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new ConfigFault([
      'payments.processor: found stripe, expected the package "stripe" to be installed (npm install stripe)',
    ]);
  }
}

function addressOf(apiBase: string | null) {
  if (apiBase === null) return {};
  const { protocol, hostname, port } = new URL(apiBase);
  const secure = protocol === 'https:';
  return {
    protocol: secure ? 'https' : 'http',
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 443 : 80) : Number(port),
  };
}
