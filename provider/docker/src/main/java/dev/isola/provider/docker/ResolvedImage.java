package dev.isola.provider.docker;

import dev.isola.codec.json.JsonValue;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The image to create a sandbox from.
 *
 * @param id the engine's image id, which stays the same if the tag moves
 * @param digest the digest of the content, Isola's own for an image of Isola; empty if the image is
 *     not the whole root
 * @param mounts the mounts that complete the image: the host's folders if the image is the host's
 *     root
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

  /** Returns this image with the metadata of Isola's image, which the engine does not have. */
  ResolvedImage withMetadata(String sum, Map<String, String> variables, Optional<String> account) {
    return new ResolvedImage(id, Optional.of(sum), variables, account, mounts);
  }

  /** Returns this image with mounts of host folders. */
  ResolvedImage withMounts(List<Map<String, Object>> more) {
    return new ResolvedImage(id, Optional.empty(), env, user, more);
  }
}
