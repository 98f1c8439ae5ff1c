package dev.isola.provider.microvmctl;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.spi.Health;
import dev.isola.spi.Isolation;
import dev.isola.spi.error.SandboxException;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What the verb {@code probe} tells. The contract does not define its output: a command that ends
 * with exit code 0 works, and a JSON object adds what this class reads.
 *
 * @param isolation of its sandboxes; empty if it does not tell
 * @param accelerated false if it tells that software emulates the processors of its sandboxes
 * @param features what the command does beyond the contract
 */
record ProbeResult(
    Health health, Optional<Isolation> isolation, boolean accelerated, Set<String> features) {
  /** The command passes its standard input on to the program that {@code exec} runs. */
  static final String EXEC_STDIN = "exec-stdin";

  /** {@code create} has an option {@code --workspace PATH} for the working folder. */
  static final String WORKSPACE = "create-workspace";

  ProbeResult {
    features = Set.copyOf(features);
  }

  static ProbeResult unhealthy(SandboxException e) {
    return new ProbeResult(
        new Health.Unhealthy(e.fault().problem(), e.fault().remedy()),
        Optional.empty(),
        true,
        Set.of());
  }

  static ProbeResult of(Controller.Result result, ControllerErrors errors) {
    Map<String, Object> json = json(result.text());
    boolean works = result.exitCode() == 0 && !Boolean.FALSE.equals(json.getOrDefault("ok", true));
    if (works) {
      return new ProbeResult(
          usable(json, errors), isolation(json), accelerated(json), features(json));
    }
    Optional<String> reason = text(json, "reason");
    return reason.isPresent()
        ? new ProbeResult(
            new Health.Unhealthy(reason.get(), text(json, "fix").orElse("")),
            isolation(json),
            accelerated(json),
            features(json))
        : unhealthy(errors.of("probe", result.exitCode(), result.error()));
  }

  private static Health usable(Map<String, Object> json, ControllerErrors errors) {
    String command = errors.command().display();
    if (Boolean.TRUE.equals(json.get("degraded"))) {
      return new Health.Degraded(
          text(json, "reason").orElse(command + " reports a defect"), text(json, "fix").orElse(""));
    }
    return new Health.Healthy(
        command
            + text(json, "provider").map(name -> " creates them with " + name).orElse(" works"));
  }

  private static Map<String, Object> json(String text) {
    try {
      return text.stripLeading().startsWith("{") ? Json.parseObject(text.strip()) : Map.of();
    } catch (MalformedJson e) {
      return Map.of();
    }
  }

  private static Optional<String> text(Map<String, Object> json, String name) {
    return json.get(name) instanceof String text && !text.isBlank()
        ? Optional.of(ControllerErrors.text(text))
        : Optional.empty();
  }

  private static Optional<Isolation> isolation(Map<String, Object> json) {
    Optional<String> name = text(json, "isolation").map(text -> text.toUpperCase(Locale.ROOT));
    for (Isolation one : Isolation.values()) {
      if (name.equals(Optional.of(one.name()))) {
        return Optional.of(one);
      }
    }
    // A word that is not known is weaker than a claim that is not made.
    return name.map(_ -> Isolation.PROCESS);
  }

  private static boolean accelerated(Map<String, Object> json) {
    return Boolean.TRUE.equals(json.getOrDefault("accelerated", true));
  }

  private static Set<String> features(Map<String, Object> json) {
    Set<String> features = new HashSet<>();
    if (json.get("features") instanceof List<?> list) {
      list.forEach(one -> features.add(String.valueOf(one)));
    }
    return features;
  }
}
