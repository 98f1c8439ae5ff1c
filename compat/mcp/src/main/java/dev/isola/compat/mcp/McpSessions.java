package dev.isola.compat.mcp;

import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.ApiKeys;
import dev.isola.spi.SandboxId;
import java.security.SecureRandom;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The sessions of clients until 2025-11-25. A session is a random word, signed for its key, and the
 * server stores none: a client can open any number of them, and continues its own after a restart
 * of the server. Only the last sessions that were ended are remembered.
 */
final class McpSessions {
  private static final int MAX_ENDED = 1000;
  private static final String PURPOSE = "mcp-session ";

  private final ApiKeys keys;
  private final SecureRandom random = new SecureRandom();
  private final Map<String, Boolean> ended =
      Collections.synchronizedMap(
          new LinkedHashMap<>() {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
              return size() > MAX_ENDED;
            }
          });

  McpSessions(ApiKeys keys) {
    this.keys = keys;
  }

  /**
   * Returns the id of a new session.
   *
   * @param purpose what the session is valid for; empty, or words that each end with a space
   */
  String open(ApiKey key, String purpose) {
    SandboxId word = SandboxId.random(random);
    return word + "." + keys.tokens().stableToken(word, claims(key, purpose)).reveal();
  }

  private static String claims(ApiKey key, String purpose) {
    return PURPOSE + purpose + key.name();
  }

  /**
   * Returns the word of a session; empty if the id is not one of this key and purpose, or has
   * ended.
   */
  Optional<String> find(ApiKey key, String purpose, String id) {
    int dot = id.indexOf('.');
    if (dot < 0 || !SandboxId.isValid(id.substring(0, dot))) {
      return Optional.empty();
    }
    String word = id.substring(0, dot);
    boolean valid =
        keys.tokens()
            .isStableToken(new SandboxId(word), claims(key, purpose), id.substring(dot + 1));
    return Optional.of(word).filter(_ -> valid && !ended.containsKey(word));
  }

  void end(String word) {
    ended.put(word, true);
  }
}
