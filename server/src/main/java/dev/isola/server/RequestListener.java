package dev.isola.server;

import dev.isola.server.auth.Actor;
import java.util.Optional;
import java.util.Set;

/** Notified of every completed request. Implementations must be fast and must not throw. */
public interface RequestListener {

  /** Actions with method POST that change nothing. */
  Set<String> READING_POSTS = Set.of("selectProvider", "checkProviders");

  /** Actions with method GET that change something: the callback of a sign-in. */
  Set<String> CHANGING_GETS = Set.of("completeOidcSignIn");

  /**
   * A completed request.
   *
   * @param action the name of the route, or {@code -} if none matched
   * @param route the template of the route, or {@code -}
   * @param code the error code of the response, if it is an error
   * @param key the name of the key or the kind of token, or {@code -}
   * @param remote the address of the client
   * @param sandbox the sandbox of the request, if any
   * @param disclosesToken whether the response contains a token
   * @param unlisted whether the credential was invalid, and so many others that the audit log only
   *     counts the request
   */
  record CompletedRequest(
      String requestId,
      String method,
      String action,
      String route,
      int status,
      Optional<String> code,
      long nanos,
      String key,
      String remote,
      Optional<String> sandbox,
      boolean disclosesToken,
      boolean unlisted) {

    /**
     * Returns whether an authenticated client attempted a change or received a token, or the
     * credential of a client was invalid.
     */
    public boolean isAuditable() {
      boolean reads =
          (method.equals("GET") && !CHANGING_GETS.contains(action))
              || method.equals("HEAD")
              || READING_POSTS.contains(action);
      boolean notable = !reads || disclosesToken || key.equals(Actor.INVALID);
      return notable && !key.equals("-") && !action.equals("-");
    }
  }

  void requestCompleted(CompletedRequest completed);
}
