package dev.isola.server.e2b.volume;

import dev.isola.server.JsonText;
import dev.isola.server.e2b.Body;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.store.Settings;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The volumes that somebody named, and who may look into them. */
record VolumeBook(Settings settings) {
  private static final String SCOPE = "e2b-volume";
  private static final String NAME = "[A-Za-z0-9][A-Za-z0-9_.-]{0,127}";
  private static final int TOKEN_BYTES = 32;
  private static final SecureRandom RANDOM = new SecureRandom();

  /**
   * One volume.
   *
   * @param token opens its content, and nothing else
   */
  record Named(String id, String name, String token) {
    /** Returns it as a list has it: who may only look is not given the token. */
    Map<String, Object> listed() {
      Map<String, Object> json = new LinkedHashMap<>();
      json.put("volumeID", id);
      json.put("name", name);
      return json;
    }

    Map<String, Object> opened() {
      Map<String, Object> json = listed();
      json.put("token", token);
      return json;
    }
  }

  Named create(String name) {
    if (!name.matches(NAME)) {
      throw Body.wrong("name", "must be letters, digits, . _ and -, at most 128");
    }
    if (all().stream().anyMatch(one -> one.name().equals(name))) {
      throw Fault.of(ErrorCode.CONFLICT, "there is a volume " + name, "choose another name")
          .exception();
    }
    byte[] token = new byte[TOKEN_BYTES];
    RANDOM.nextBytes(token);
    Named made = new Named(SandboxId.random(RANDOM).value(), name, HexFormat.of().formatHex(token));
    settings.put(SCOPE, made.id(), new String(JsonText.of(made.opened()), StandardCharsets.UTF_8));
    return made;
  }

  List<Named> all() {
    return settings.all(SCOPE).values().stream().map(VolumeBook::read).toList();
  }

  Optional<Named> find(String id) {
    return settings.get(SCOPE, id).map(VolumeBook::read);
  }

  Named need(String id) {
    return find(id)
        .orElseThrow(
            () ->
                Fault.of(ErrorCode.FILE_NOT_FOUND, "there is no such volume", "list the volumes")
                    .exception());
  }

  void forget(Named volume) {
    settings.remove(SCOPE, volume.id());
  }

  private static Named read(String text) {
    Body json = new Body(JsonText.object(text));
    return new Named(json.needed("volumeID"), json.needed("name"), json.needed("token"));
  }
}
