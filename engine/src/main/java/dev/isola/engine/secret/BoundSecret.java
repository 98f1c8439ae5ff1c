package dev.isola.engine.secret;

import dev.isola.engine.api.NamedSecret;
import dev.isola.spi.Secret;

/**
 * A secret with its value. A placeholder that is as long as the value can be replaced anywhere in a
 * request; any other only in headers, because the length of a body is sent before the body.
 */
public record BoundSecret(NamedSecret secret, Secret value) {}
