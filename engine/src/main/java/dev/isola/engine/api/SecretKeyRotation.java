package dev.isola.engine.api;

/**
 * The result of a change of the key that encrypts secrets.
 *
 * @param keyId the id of the key that all values are encrypted with
 * @param values the number of values that were encrypted again
 */
public record SecretKeyRotation(String keyId, int values) {}
