package dev.isola.provider.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.JsonValue;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Compares a pod that another program created with the plan. The cluster adds default values; what
 * would weaken the isolation of the sandbox must be as planned.
 */
final class PodComparison {
  private static final Pattern QUANTITY =
      Pattern.compile("([0-9]{1,15}(?:\\.[0-9]{1,9})?)(m|k|M|G|T|Ki|Mi|Gi|Ti)?");
  private static final Map<String, BigDecimal> UNITS =
      Map.of(
          "m", new BigDecimal("0.001"),
          "k", new BigDecimal("1000"),
          "M", new BigDecimal("1000000"),
          "G", new BigDecimal("1000000000"),
          "T", new BigDecimal("1000000000000"),
          "Ki", BigDecimal.valueOf(1L << 10),
          "Mi", BigDecimal.valueOf(1L << 20),
          "Gi", BigDecimal.valueOf(1L << 30),
          "Ti", BigDecimal.valueOf(1L << 40));

  /** Members of a pod or container that the plan does not have, and nothing may add. */
  private static final Set<String> FORBIDDEN =
      Set.of(
          "hostNetwork",
          "hostPID",
          "hostIPC",
          "shareProcessNamespace",
          "initContainers",
          "ephemeralContainers",
          "resourceClaims",
          "lifecycle",
          "livenessProbe",
          "readinessProbe",
          "startupProbe",
          "volumeDevices",
          "envFrom");

  /** Objects to which nothing may be added. */
  private static final Set<String> EXACT = Set.of("securityContext", "capabilities");

  /** A default of newer clusters. */
  private static final String PROC_MOUNT = "procMount";

  /** Which nodes a pod tolerates is of no concern for its isolation. */
  private static final String TOLERATIONS = "tolerations";

  private PodComparison() {}

  /**
   * Refuses a pod that is not the one of a plan.
   *
   * @param planned the body of the plan
   */
  static void require(SandboxId id, Map<String, Object> planned, JsonValue stored) {
    Optional<String> difference = difference("spec", parsed(planned).at("spec"), stored.at("spec"));
    if (difference.isPresent()) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the pod of sandbox " + id + " was changed by the cluster: " + difference.get(),
              "look for an admission webhook that changes pods, or set mode to pods")
          .sandbox(id)
          .exception();
    }
  }

  private static JsonValue parsed(Map<String, Object> planned) {
    try {
      return JsonValue.parse(Json.text(planned).getBytes(UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns where a stored value differs in a way that matters. */
  static Optional<String> difference(String path, JsonValue planned, JsonValue stored) {
    if (planned.isList()) {
      return ofLists(path, planned.items(), stored.items());
    }
    if (planned.isObject()) {
      return ofObjects(path, planned.members(), stored.members());
    }
    boolean same =
        Objects.equals(planned.toString(), stored.toString())
            || (path.endsWith(".readOnly") && isDefault(planned) && isDefault(stored))
            || isSameQuantity(planned.text(), stored.text());
    return same ? Optional.empty() : Optional.of(path + " is " + shown(stored));
  }

  private static Optional<String> ofLists(
      String path, List<JsonValue> planned, List<JsonValue> stored) {
    if (planned.size() != stored.size()) {
      return Optional.of(path + " has " + stored.size() + " items, not " + planned.size());
    }
    for (int i = 0; i < planned.size(); i++) {
      Optional<String> found = difference(path + "[" + i + "]", planned.get(i), stored.get(i));
      if (found.isPresent()) {
        return found;
      }
    }
    return Optional.empty();
  }

  private static Optional<String> ofObjects(
      String path, Map<String, JsonValue> planned, Map<String, JsonValue> stored) {
    JsonValue missing = parsed(Map.of()).at("no such member");
    for (Map.Entry<String, JsonValue> one : planned.entrySet()) {
      String member = path + "." + one.getKey();
      Optional<String> found =
          one.getKey().equals(TOLERATIONS)
              ? Optional.empty()
              : difference(member, one.getValue(), stored.getOrDefault(one.getKey(), missing));
      if (found.isPresent()) {
        return found;
      }
    }
    boolean exact = EXACT.contains(path.substring(path.lastIndexOf('.') + 1));
    return stored.entrySet().stream()
        .filter(one -> !planned.containsKey(one.getKey()))
        .filter(one -> exact || FORBIDDEN.contains(one.getKey()))
        .filter(one -> !isHarmless(one.getKey(), one.getValue()))
        .map(one -> path + "." + one.getKey() + " is " + shown(one.getValue()))
        .findFirst();
  }

  private static boolean isHarmless(String name, JsonValue value) {
    return isDefault(value) || (name.equals(PROC_MOUNT) && value.text().equals("Default"));
  }

  /** Tells whether the API server leaves out a value. */
  private static boolean isDefault(JsonValue value) {
    return Set.of("false", "0", "null", "\"\"", "[]", "{}").contains(value.toString());
  }

  private static boolean isSameQuantity(String planned, String stored) {
    Optional<BigDecimal> amount = quantity(planned);
    Optional<BigDecimal> other = quantity(stored);
    return amount.isPresent() && other.isPresent() && amount.get().compareTo(other.get()) == 0;
  }

  private static Optional<BigDecimal> quantity(String text) {
    Matcher matcher = QUANTITY.matcher(text);
    return matcher.matches()
        ? Optional.of(
            new BigDecimal(matcher.group(1))
                .multiply(
                    Optional.ofNullable(matcher.group(2)).map(UNITS::get).orElse(BigDecimal.ONE)))
        : Optional.empty();
  }

  private static String shown(JsonValue value) {
    return PodSnapshot.bounded(value.toString());
  }
}
