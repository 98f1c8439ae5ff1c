package dev.isola.engine.config;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/**
 * A parsed YAML file with the line number of each key and the literal text of each scalar. A
 * provider needs the literal text: {@code 0123} is not a number to it.
 */
final class YamlFile {
  private static final int MAX_BYTES = 1024 * 1024;
  private static final int MAX_DEPTH = 20;

  private final Path path;
  private final Map<String, Integer> lines = new HashMap<>();
  private final Map<String, String> texts = new HashMap<>();
  private Map<?, ?> tree = Map.of();

  private YamlFile(Path path) {
    this.path = path;
  }

  /** Reads {@code path}; problems with the file as a whole are added to {@code problems}. */
  static YamlFile read(Path path, List<ConfigProblem> problems) {
    YamlFile file = new YamlFile(path);
    try {
      if (Files.size(path) > MAX_BYTES) {
        throw new IOException("is larger than " + MAX_BYTES + " bytes");
      }
      file.parse(Files.readString(path));
    } catch (InvalidValueException e) {
      problems.add(new ConfigProblem(file.originOf(""), "", e.problem()));
    } catch (MarkedYamlEngineException e) {
      // The message of the exception quotes the file, which may contain secrets.
      int line = e.getProblemMark().map(mark -> mark.getLine() + 1).orElse(1);
      problems.add(
          new ConfigProblem(
              new ValueOrigin.File(path, line), "", "is not valid YAML: " + e.getProblem()));
    } catch (YamlEngineException e) {
      problems.add(
          new ConfigProblem(
              file.originOf(""), "", "is not valid YAML, or uses unsupported features"));
    } catch (NoSuchFileException e) {
      problems.add(new ConfigProblem(file.originOf(""), "", "does not exist"));
    } catch (CharacterCodingException e) {
      problems.add(new ConfigProblem(file.originOf(""), "", "is not UTF-8"));
    } catch (IOException e) {
      problems.add(new ConfigProblem(file.originOf(""), "", "cannot be read: " + e.getMessage()));
    }
    return file;
  }

  private void parse(String text) throws InvalidValueException {
    LoadSettings settings = LoadSettings.builder().setCodePointLimit(MAX_BYTES).build();
    Optional<Node> root = new Compose(settings).composeString(text);
    if (root.isEmpty()) {
      return;
    }
    index("", root.get(), 0);
    Object loaded = new Load(settings).loadFromString(text);
    if (loaded instanceof Map<?, ?> map) {
      tree = map;
    } else if (loaded != null) {
      throw new InvalidValueException(
          "must contain keys and values, not " + ValueType.typeName(loaded));
    }
  }

  private void index(String at, Node node, int depth) throws InvalidValueException {
    if (depth > MAX_DEPTH) {
      throw new InvalidValueException("is nested deeper than " + MAX_DEPTH + " levels");
    }
    switch (node) {
      case ScalarNode scalar -> texts.put(at, scalar.getValue());
      case SequenceNode list -> {
        for (int i = 0; i < list.getValue().size(); i++) {
          Node element = list.getValue().get(i);
          String keyPath = at + "[" + i + "]";
          recordLine(keyPath, element);
          index(keyPath, element, depth + 1);
        }
      }
      case MappingNode map -> {
        for (NodeTuple tuple : map.getValue()) {
          if (tuple.getKeyNode() instanceof ScalarNode key) {
            String keyPath = at.isEmpty() ? key.getValue() : at + "." + key.getValue();
            recordLine(keyPath, key);
            index(keyPath, tuple.getValueNode(), depth + 1);
          }
        }
      }
      default -> {}
    }
  }

  private void recordLine(String keyPath, Node node) {
    node.getStartMark().ifPresent(mark -> lines.put(keyPath, mark.getLine() + 1));
  }

  Map<?, ?> tree() {
    return tree;
  }

  /** Returns the position of {@code keyPath} in the file. */
  ValueOrigin originOf(String keyPath) {
    return new ValueOrigin.File(path, lines.getOrDefault(keyPath, 1));
  }

  /** Returns the literal text of the scalar at {@code keyPath}. */
  Optional<String> text(String keyPath) {
    return Optional.ofNullable(texts.get(keyPath));
  }
}
