/** Longer than the usual 60 s of a balancer, so that it never reuses a connection that we are closing (E6). */
export const keepAliveMs = 75_000;
