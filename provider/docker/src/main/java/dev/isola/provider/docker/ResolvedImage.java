package dev.isola.provider.docker;

import dev.isola.codec.json.JsonValue;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The image a sandbox is made from.
 *
 * @param id the engine's, so that a name that moves on meanwhile changes nothing
 * @param digest of what is in it: Isola's own where it is one of Isola's images; empty where it is
 *     not all of the root
 * @param mounts what is mounted to make it whole: the host's folders, where the image is its root
 */
record ResolvedImage(
    String id,
    Optional<String> digest,
    Map<String, String> env,
    Optional<String> user,
    List<Map<String, Object>> mounts) {

  static ResolvedImage of(JsonValue inspected) {
    JsonValue config = inspected.at("Config");
    Map<String, String> env = new LinkedHashMap<>();
    for (JsonValue variable : config.at("Env").items()) {
      String text = variable.text();
      int equals = text.indexOf('=');
      if (equals > 0 && text.indexOf('\0') < 0) {
        env.put(text.substring(0, equals), text.substring(equals + 1));
      }
    }
    return new ResolvedImage(
        inspected.text("Id"),
        some(inspected.text("Id")),
        env,
        some(config.text("User")),
        List.of());
  }

  private static Optional<String> some(String text) {
    return Optional.of(text).filter(one -> !one.isEmpty());
  }

  /** Returns it with what Isola knows of it, and the engine was not told. */
  ResolvedImage withMetadata(String sum, Map<String, String> variables, Optional<String> account) {
    return new ResolvedImage(id, Optional.of(sum), variables, account, mounts);
  }

  /** Returns it with folders of the host's. */
  ResolvedImage withMounts(List<Map<String, Object>> more) {
    return new ResolvedImage(id, Optional.empty(), env, user, more);
  }
}
