package dev.isola.server.oidc;

import dev.isola.spi.error.ErrorCode;
import java.util.Locale;

/**
 * Why a sign-in failed. The dashboard has a text for each: a text in the address would let any link
 * put words on the sign-in page.
 */
public enum SignInProblem {
  /** The callback does not belong to a sign-in that this browser began in the last ten minutes. */
  EXPIRED(ErrorCode.UNAUTHENTICATED),
  /** The person or the provider ended the sign-in. */
  CANCELLED(ErrorCode.UNAUTHENTICATED),
  /** The provider does not answer, or not as the specification says. */
  PROVIDER_UNAVAILABLE(ErrorCode.PROVIDER_UNAVAILABLE),
  /** The provider did not accept the code, or its ID token is invalid. */
  INVALID_TOKEN(ErrorCode.UNAUTHENTICATED),
  /** No value of the claim has a key. */
  NO_KEY(ErrorCode.FORBIDDEN),
  /** Too many sign-ins are in progress, or too many from this address failed. */
  TOO_MANY(ErrorCode.RATE_LIMITED);

  private final ErrorCode code;

  SignInProblem(ErrorCode code) {
    this.code = code;
  }

  /** Returns the code in the logs. */
  public ErrorCode code() {
    return code;
  }

  /** Returns the word in the address of the sign-in page. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
