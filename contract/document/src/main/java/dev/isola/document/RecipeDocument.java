package dev.isola.document;

import dev.isola.document.field.DocumentReader;
import dev.isola.document.recipe.BuildStep;
import dev.isola.document.recipe.Installer;
import dev.isola.document.recipe.Recipe;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.spec.SpecValidation;
import dev.isola.spi.spec.Violation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The document form of a template recipe: a tree of maps, lists, strings and numbers, as a JSON or
 * YAML library returns it.
 *
 * <pre>{@code
 * {
 *   "base": "python:3.14",                 // or image; or "template": the name of a template
 *   "env": {"LANG": "C.UTF-8"},            // these are the first steps, in this order
 *   "packages": ["git", "ripgrep"],        // by the package manager of the distribution
 *   "apt": ["python3-pip"], "pip": ["requests==2.32"], "npm": ["typescript"],
 *   "user": "agent",
 *   "workdir": "/app",
 *   "steps": [
 *     {"copy": {"from": "src", "to": "src", "owner": "agent", "mode": "0755",
 *               "archive": "9f86d0..."}},  // SHA-256 of the uploaded archive
 *     {"run": "pip install -r src/requirements.txt", "user": "root"},
 *     {"env": {"MODE": "fast"}}, {"workdir": "/app/src"}, {"user": "agent"},
 *     {"packages": ["curl"]}
 *   ],
 *   "start": "python3 -m http.server 8000",
 *   "ready": "curl -sf http://127.0.0.1:8000",
 *   "cpu": 2,
 *   "memoryMb": 2048
 * }
 * }</pre>
 */
public final class RecipeDocument {
  private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,255}");

  private static final Pattern ACCOUNT =
      Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,63})?");
  private static final Pattern MODE = Pattern.compile("[0-7]{3,4}");
  private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");
  private static final int MAX_COMMAND_LENGTH = 64 * 1024;
  private static final int MAX_NAME_LENGTH = 512;
  private static final int MAX_PATH_LENGTH = 4096;
  private static final int MAX_VALUE_LENGTH = 32 * 1024;
  private static final int MAX_NAMES = 500;
  private static final List<String> KINDS =
      List.of("run", "copy", "env", "packages", "apt", "pip", "npm", "workdir", "user");

  private final DocumentReader in;
  private final boolean archives;

  private RecipeDocument(DocumentReader in, boolean archives) {
    this.in = in;
    this.archives = archives;
  }

  /**
   * Reads a recipe whose copy steps name uploaded archives.
   *
   * @throws dev.isola.spi.error.InvalidRequest naming every field that is unknown, of the wrong
   *     type or invalid, by its path in the document
   */
  public static Recipe fromMap(Map<String, ?> document) {
    return read(document, true);
  }

  /**
   * Reads a recipe as written by its author, before the files to copy are uploaded: its copy steps
   * name no archives.
   *
   * @throws dev.isola.spi.error.InvalidRequest like {@link #fromMap}
   */
  public static Recipe check(Map<String, ?> document) {
    return read(document, false);
  }

  private static Recipe read(Map<String, ?> document, boolean archives) {
    List<Violation> violations = new ArrayList<>();
    Recipe recipe = new RecipeDocument(DocumentReader.of(document, violations), archives).recipe();
    SpecValidation.throwIfInvalid(ErrorCode.INVALID_REQUEST, "the recipe", violations);
    return recipe;
  }

  /**
   * Writes {@code recipe} as a document that {@link #fromMap} reads back as an equal recipe. The
   * defaults of a base are not part of the document.
   */
  public static Map<String, Object> toMap(Recipe recipe) {
    Map<String, Object> document = new LinkedHashMap<>();
    switch (recipe.base()) {
      case Recipe.Base.Image image -> document.put("base", image.name());
      case Recipe.Base.FromTemplate(String name) -> document.put("template", name);
      case Recipe.Base.Host _ -> {} // has no document form
    }
    document.put("steps", recipe.steps().stream().map(RecipeDocument::step).toList());
    recipe.start().ifPresent(command -> document.put("start", command));
    recipe.ready().ifPresent(command -> document.put("ready", command));
    recipe.cpus().ifPresent(cores -> document.put("cpu", cores));
    recipe.memoryMb().ifPresent(size -> document.put("memoryMb", size));
    return document;
  }

  private static Map<String, Object> step(BuildStep step) {
    Map<String, Object> document = new LinkedHashMap<>();
    switch (step) {
      case BuildStep.Run(String command, Optional<String> user) -> {
        document.put("run", command);
        user.ifPresent(name -> document.put("user", name));
      }
      case BuildStep.Copy copy -> {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("from", copy.source());
        fields.put("to", copy.destination());
        copy.owner().ifPresent(owner -> fields.put("owner", owner));
        copy.mode().ifPresent(mode -> fields.put("mode", mode));
        fields.put("archive", copy.archive());
        document.put("copy", fields);
      }
      case BuildStep.Env(Map<String, String> variables) -> document.put("env", variables);
      case BuildStep.Packages(Installer installer, List<String> names) ->
          document.put(installer.field(), names);
      case BuildStep.Workdir(String path) -> document.put("workdir", path);
      case BuildStep.User(String name) -> document.put("user", name);
    }
    return document;
  }

  private Recipe recipe() {
    Optional<String> image = in.field(text(MAX_NAME_LENGTH), "base", "image");
    Optional<String> template = in.field(text(MAX_NAME_LENGTH), "template");
    boolean named = in.has("base") || in.has("image");
    if (named && in.has("template")) {
      in.reject("template", "cannot be combined with base; a build starts from one of them");
    } else if (!named && !in.has("template")) {
      in.reject("base", "is missing: name an image here, or set template");
    }
    List<BuildStep> steps = new ArrayList<>();
    in.field(this::env, "env").ifPresent(steps::add);
    for (Installer installer : Installer.values()) {
      in.field(packages(installer), installer.field()).ifPresent(steps::add);
    }
    in.field(account(), "user").map(BuildStep.User::new).ifPresent(steps::add);
    in.field(text(MAX_PATH_LENGTH), "workdir").map(BuildStep.Workdir::new).ifPresent(steps::add);
    in.field(this::steps, "steps").ifPresent(steps::addAll);
    Recipe recipe =
        new Recipe(
            template
                .<Recipe.Base>map(Recipe.Base.FromTemplate::new)
                .orElse(new Recipe.Base.Image(image.orElse(""))),
            steps,
            in.field(text(MAX_COMMAND_LENGTH), "start"),
            in.field(text(MAX_COMMAND_LENGTH), "ready"),
            in.field(this::cores, "cpu"),
            in.field(this::megabytes, "memoryMb", "memory"));
    if (recipe.ready().isPresent() && recipe.start().isEmpty() && template.isEmpty()) {
      in.reject("ready", "requires start, or a template: there is nothing to wait for");
    }
    in.rejectUnknownFields();
    return recipe;
  }

  /** A list that is too long is rejected as a whole, without validating each step. */
  private Optional<List<BuildStep>> steps(String field, @Nullable Object value) {
    if (!(value instanceof List<?> elements)) {
      return in.reject(field, "must be a list");
    }
    if (elements.size() > Recipe.MAX_STEPS) {
      return in.reject(field, "has more than " + Recipe.MAX_STEPS + " steps");
    }
    List<BuildStep> read = new ArrayList<>();
    for (int i = 0; i < elements.size(); i++) {
      String place = field + "[" + i + "]";
      in.asObject(place, elements.get(i)).flatMap(step -> step(place, step)).ifPresent(read::add);
    }
    return Optional.of(read);
  }

  private Optional<BuildStep> step(String place, DocumentReader step) {
    List<String> kinds = KINDS.stream().filter(step::has).toList();
    boolean runAs = kinds.equals(List.of("run", "user"));
    Optional<BuildStep> read = Optional.empty();
    if (kinds.size() > 1 && !runAs) {
      step.expect(KINDS.toArray(String[]::new));
      in.reject(place, "has " + String.join(" and ", kinds) + "; write one step for each");
    } else if (kinds.isEmpty()) {
      step.expect(KINDS.toArray(String[]::new));
      in.reject(place, "must have one of " + String.join(", ", KINDS));
    } else {
      read = step(kinds.getFirst(), place, step);
    }
    step.rejectUnknownFields();
    return read;
  }

  private Optional<BuildStep> step(String kind, String place, DocumentReader step) {
    return switch (kind) {
      case "run" -> {
        Optional<String> command = step.field(text(MAX_COMMAND_LENGTH), "run");
        Optional<String> user = step.field(account(), "user");
        yield command.map(text -> new BuildStep.Run(text, user));
      }
      case "copy" -> step.object("copy").flatMap(fields -> copy(place, fields));
      case "env" -> step.field(this::env, "env");
      case "packages" -> step.field(packages(Installer.SYSTEM), kind);
      case "apt" -> step.field(packages(Installer.APT), kind);
      case "pip" -> step.field(packages(Installer.PIP), kind);
      case "npm" -> step.field(packages(Installer.NPM), kind);
      case "workdir" -> step.field(text(MAX_PATH_LENGTH), "workdir").map(BuildStep.Workdir::new);
      default -> step.field(account(), "user").map(BuildStep.User::new);
    };
  }

  private Optional<BuildStep> copy(String place, DocumentReader fields) {
    Optional<String> from = fields.required(this::source, "from");
    Optional<String> to = fields.required(text(MAX_PATH_LENGTH), "to");
    Optional<String> owner = fields.field(account(), "owner");
    Optional<String> mode =
        fields.field(matching(MODE, "must be permission bits as text, such as \"0755\""), "mode");
    Optional<String> archive =
        fields.field(
            matching(SHA256, "must be the SHA-256 of an uploaded archive: 64 hexadecimal digits"),
            "archive");
    if (archives && !fields.has("archive")) {
      in.reject(place + ".copy.archive", "is missing: upload the files, and name the upload here");
    }
    fields.rejectUnknownFields();
    return from.flatMap(
        source ->
            to.map(target -> new BuildStep.Copy(archive.orElse(""), source, target, owner, mode)));
  }

  /** A path outside the archive could name files of the sandbox or of the client. */
  private Optional<String> source(String field, @Nullable Object value) {
    return text(MAX_PATH_LENGTH)
        .read(field, value)
        .flatMap(
            path ->
                path.startsWith("/")
                    ? in.reject(field, "must be relative to the build context")
                    : List.of(path.split("/")).contains("..")
                        ? in.reject(field, "contains '..'")
                        : path.contains("**")
                            ? in.reject(field, "contains '**'; name the folder instead")
                            : Optional.of(path));
  }

  private Optional<BuildStep> env(String field, @Nullable Object value) {
    if (!(value instanceof Map<?, ?> entries)) {
      return in.reject(field, "must be an object");
    }
    if (entries.size() > MAX_NAMES) {
      return in.reject(field, "has more than " + MAX_NAMES + " variables");
    }
    Map<String, String> variables = new LinkedHashMap<>();
    entries.forEach(
        (key, each) -> {
          String name = String.valueOf(key);
          String place = field + "." + DocumentReader.abbreviate(name);
          if (!VARIABLE.matcher(name).matches()) {
            in.reject(field, "has an invalid name: '" + DocumentReader.abbreviate(name) + "'");
          }
          value(place, each).ifPresent(text -> variables.put(name, text));
        });
    return Optional.of(new BuildStep.Env(variables));
  }

  /**
   * Accepts numbers and booleans too, because YAML files often leave values unquoted. Errors never
   * contain the value.
   */
  private Optional<String> value(String field, @Nullable Object value) {
    if (!(value instanceof String || value instanceof Number || value instanceof Boolean)) {
      return in.reject(field, "must be a string");
    }
    String text = String.valueOf(value);
    if (text.length() > MAX_VALUE_LENGTH) {
      return in.reject(field, "is longer than " + MAX_VALUE_LENGTH + " characters");
    }
    return text.indexOf('\0') >= 0 ? in.reject(field, "contains a NUL") : Optional.of(text);
  }

  private DocumentReader.ValueReader<BuildStep> packages(Installer installer) {
    return (field, value) -> {
      if (!(value instanceof List<?> elements)) {
        return in.reject(field, "must be a list");
      }
      if (elements.size() > MAX_NAMES) {
        return in.reject(field, "has more than " + MAX_NAMES + " names");
      }
      List<String> names = new ArrayList<>();
      for (int i = 0; i < elements.size(); i++) {
        name(installer, field + "[" + i + "]", elements.get(i)).ifPresent(names::add);
      }
      return names.isEmpty()
          ? Optional.empty()
          : Optional.of(new BuildStep.Packages(installer, names));
    };
  }

  private Optional<String> name(Installer installer, String field, @Nullable Object value) {
    return in.asText(field, value)
        .flatMap(
            text ->
                installer.isPackage(text)
                    ? Optional.of(text)
                    : in.reject(
                        field,
                        "is not the name of a package: '" + DocumentReader.abbreviate(text) + "'"));
  }

  private Optional<Long> cores(String field, @Nullable Object value) {
    return within(field, value, 1, 1024);
  }

  private Optional<Long> megabytes(String field, @Nullable Object value) {
    return within(field, value, 4, 64L << 20);
  }

  private Optional<Long> within(String field, @Nullable Object value, long min, long max) {
    return in.asLong(field, value)
        .flatMap(
            number ->
                number >= min && number <= max
                    ? Optional.of(number)
                    : in.reject(field, "must be " + min + " to " + max + ": " + number));
  }

  private DocumentReader.ValueReader<String> account() {
    return matching(ACCOUNT, "must be a user, or user:group");
  }

  private DocumentReader.ValueReader<String> matching(Pattern pattern, String problem) {
    return (field, value) ->
        in.asText(field, value)
            .flatMap(
                text ->
                    pattern.matcher(text).matches()
                        ? Optional.of(text)
                        : in.reject(
                            field, problem + ": '" + DocumentReader.abbreviate(text) + "'"));
  }

  private DocumentReader.ValueReader<String> text(int maxLength) {
    return (field, value) ->
        in.asText(field, value)
            .flatMap(
                text ->
                    text.isBlank()
                        ? in.reject(field, "is blank")
                        : text.length() > maxLength
                            ? in.reject(field, "is longer than " + maxLength + " characters")
                            : text.indexOf('\0') >= 0
                                ? in.reject(field, "contains a NUL")
                                : Optional.of(text));
  }
}
