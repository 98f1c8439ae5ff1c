package dev.isola.server.oidc;

import dev.isola.codec.digest.Sha256;
import dev.isola.codec.json.Json;
import java.net.URI;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;

/**
 * A sign-in in progress.
 *
 * @param state returned by the provider in the callback
 * @param nonce returned by the provider in the ID token
 * @param verifier the secret of PKCE (RFC 7636)
 * @param redirectUri where the provider sends the browser
 * @param returnPath the page of the dashboard to open in the end
 */
record SignInTransaction(
    String state,
    String nonce,
    String verifier,
    URI redirectUri,
    String returnPath,
    Instant expiresAt) {

  /** Returns the S256 code challenge of the verifier. */
  String challenge() {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(Sha256.of(verifier));
  }

  byte[] toBytes() {
    return Json.bytes(
        Json.object(
            "state", state,
            "nonce", nonce,
            "verifier", verifier,
            "redirectUri", redirectUri.toString(),
            "returnPath", returnPath,
            "expiresAt", expiresAt.toString()));
  }

  static SignInTransaction of(byte[] bytes) {
    Map<String, Object> fields = Json.parseObject(bytes);
    return new SignInTransaction(
        String.valueOf(fields.get("state")),
        String.valueOf(fields.get("nonce")),
        String.valueOf(fields.get("verifier")),
        URI.create(String.valueOf(fields.get("redirectUri"))),
        String.valueOf(fields.get("returnPath")),
        Instant.parse(String.valueOf(fields.get("expiresAt"))));
  }

  @Override
  public String toString() {
    return "SignInTransaction[" + expiresAt + "]";
  }
}
