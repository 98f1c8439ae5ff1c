package dev.isola.engine.egress;

import dev.isola.document.EgressDocument;
import dev.isola.egress.policy.Presets;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.EgressRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/** Reads the presets: those of Isola, replaced and completed by a file of the operator. */
final class PresetReader {
  private static final int MAX_BYTES = 1024 * 1024;

  private PresetReader() {}

  /**
   * @param file names of presets, each with a list of rules; empty if the operator has none
   */
  static Map<String, List<EgressRule>> read(Optional<Path> file) {
    Map<String, List<EgressRule>> presets = new TreeMap<>(Presets.builtIn());
    file.ifPresent(path -> presets.putAll(read(path)));
    return presets;
  }

  private static Map<String, List<EgressRule>> read(Path file) {
    Map<String, List<EgressRule>> presets = new TreeMap<>();
    try {
      if (Files.size(file) > MAX_BYTES) {
        throw invalid(file, "it is larger than " + MAX_BYTES + " bytes");
      }
      LoadSettings settings = LoadSettings.builder().setCodePointLimit(MAX_BYTES).build();
      Object tree = new Load(settings).loadFromString(Files.readString(file));
      if (!(tree instanceof Map<?, ?> lists)) {
        throw invalid(file, "it must contain names with lists of rules");
      }
      lists.forEach(
          (name, rules) -> {
            if (!(rules instanceof List<?>)) {
              throw invalid(file, name + " must be a list of rules");
            }
            presets.put(String.valueOf(name), rules(file, name, rules));
          });
      return presets;
    } catch (YamlEngineException e) {
      throw invalid(file, "it is not valid YAML");
    } catch (IOException e) {
      throw invalid(file, "it cannot be read: " + e.getMessage());
    }
  }

  private static List<EgressRule> rules(Path file, Object name, Object rules) {
    try {
      return EgressDocument.fromMap(Map.of("rules", rules)).rules();
    } catch (SandboxException e) {
      throw invalid(file, name + ": " + e.fault().problem());
    }
  }

  private static SandboxException invalid(Path file, String why) {
    return Fault.of(
            ErrorCode.INVALID_REQUEST,
            "the presets in " + file + " cannot be used: " + why,
            "correct the file, or remove egress.presets from the configuration")
        .exception();
  }
}
