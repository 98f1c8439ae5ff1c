package dev.isola.provider.http;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What Isola must know of a sandbox that another process created. The backend stores it as text and
 * returns it; if the text is damaged, only the defaults of commands are lost.
 *
 * @param folder the working folder of commands
 * @param timeout the default timeout of commands
 */
record SandboxNote(String folder, Optional<Duration> timeout) {
  static SandboxNote of(SandboxSpec spec) {
    return new SandboxNote(spec.workingFolder(), spec.limits().timeout());
  }

  String text() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("folder", folder);
    timeout.ifPresent(time -> json.put("timeoutMs", time.toMillis()));
    return Json.text(json);
  }

  static SandboxNote parse(String text) {
    try {
      Map<String, Object> json = Json.parseObject(text);
      return new SandboxNote(
          json.get("folder") instanceof String folder && folder.startsWith("/")
              ? folder
              : SandboxSpec.DEFAULT_MOUNT,
          json.get("timeoutMs") instanceof Number millis && millis.longValue() > 0
              ? Optional.of(Duration.ofMillis(millis.longValue()))
              : Optional.empty());
    } catch (MalformedJson e) {
      return new SandboxNote(SandboxSpec.DEFAULT_MOUNT, Optional.empty());
    }
  }
}
