package dev.isola.spi;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/** A secret value. It prints as {@code ***} and is compared in constant time. */
public final class Secret {
  private final byte[] value;

  private Secret(byte[] value) {
    this.value = value;
  }

  public static Secret of(byte[] value) {
    return new Secret(value.clone());
  }

  public static Secret of(String value) {
    return new Secret(value.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns the value in the clear. Every call of this method deserves attention in a review. */
  public byte[] reveal() {
    return value.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Secret that && MessageDigest.isEqual(value, that.value);
  }

  @Override
  public int hashCode() {
    return Secret.class.hashCode();
  }

  @Override
  public String toString() {
    return "***";
  }
}
