package dev.isola.egress;

import dev.isola.egress.policy.EgressPolicy;
import dev.isola.spi.spec.Egress;

/**
 * What applies to the connections of one sandbox. It is replaced as a whole.
 *
 * @param limits the limits of the sandbox; empty ones do not limit
 */
public record EgressSettings(EgressPolicy policy, Egress.Limits limits) {}
