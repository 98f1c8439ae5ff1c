package dev.isola.document.dockerfile;

import dev.isola.document.RecipeDocument;
import dev.isola.document.recipe.Recipe;
import dev.isola.spi.error.InvalidRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Translates the instructions of a Dockerfile, in order, into the document of a recipe. */
final class DockerfileReader {
  /** PATH of an image that does not set it. */
  private static final String PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

  private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,255}");
  private static final Pattern USE_OF_PATH = Pattern.compile("\\$(PATH\\b|\\{PATH\\b)");
  private static final Pattern ARCHIVE =
      Pattern.compile(".*\\.(tar|tgz|tbz2?|txz|tar\\.(gz|bz2|xz|zst))", Pattern.CASE_INSENSITIVE);
  private static final Pattern REMOTE =
      Pattern.compile("(https?|ftp|git|ssh)://.*|git@.*", Pattern.CASE_INSENSITIVE);

  /** Arguments that every RUN sees without an ARG, as with Docker. */
  private static final Set<String> PROXIES =
      Set.of("HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY", "ALL_PROXY");

  private final Map<String, String> given;
  private final Set<String> unused;
  private final Map<String, String> globals = new HashMap<>();
  private final Map<String, String> arguments = new TreeMap<>();
  private final Map<String, String> env = new HashMap<>();
  private final Function<String, Optional<Map<String, String>>> images;
  private final List<Object> steps = new ArrayList<>();
  private final Map<String, String> notes = new LinkedHashMap<>();
  private Optional<String> base = Optional.empty();
  private Optional<Map<String, String>> inherited = Optional.empty();
  private boolean baseIsKnown;
  private Optional<Instruction> command = Optional.empty();
  private Optional<Instruction> entrypoint = Optional.empty();

  DockerfileReader(
      Map<String, String> arguments, Function<String, Optional<Map<String, String>>> images) {
    this.images = images;
    given = Map.copyOf(arguments);
    unused = new LinkedHashSet<>(new TreeMap<>(arguments).keySet());
    arguments.forEach(
        (name, value) -> {
          if (PROXIES.contains(name.toUpperCase(Locale.ROOT))) {
            this.arguments.put(name, value);
            unused.remove(name);
          }
        });
  }

  void add(Instruction instruction) {
    if (base.isEmpty() && !Set.of("FROM", "ARG").contains(instruction.keyword())) {
      throw instruction.refused(
          instruction.keyword() + " comes before FROM", "begin the file with FROM IMAGE");
    }
    int before = steps.size();
    switch (instruction.keyword()) {
      case "FROM" -> from(instruction);
      case "ARG" -> argument(instruction);
      case "RUN" -> run(instruction);
      case "COPY", "ADD" -> copy(instruction);
      case "ENV" -> env(instruction);
      case "USER" -> step("user", expanded(instruction));
      case "WORKDIR" -> step("workdir", expanded(instruction));
      case "CMD" -> command = Optional.of(instruction);
      case "ENTRYPOINT" -> entrypoint = Optional.of(instruction);
      case "EXPOSE" -> note(instruction, "every port of a sandbox can be reached through Isola");
      case "LABEL", "MAINTAINER" -> note(instruction, "images have no labels");
      case "STOPSIGNAL" -> note(instruction, "an image has no process to stop");
      default -> throw unknown(instruction);
    }
    if (steps.size() > Recipe.MAX_STEPS) {
      throw instruction.refused(
          "the file has more than " + Recipe.MAX_STEPS + " steps", "join commands with &&");
    }
    check(instruction, steps.subList(before, steps.size()));
  }

  private static RuntimeException unknown(Instruction instruction) {
    String remedy =
        switch (instruction.keyword()) {
          case "SHELL" -> "remove it; write RUN [\"PROGRAM\", \"-c\", \"COMMAND\"] instead";
          case "VOLUME" -> "remove it; volumes belong to a sandbox (isola create --mount)";
          case "HEALTHCHECK" -> "remove it; a template has a ready command (isola template)";
          case "ONBUILD" -> "write the instruction into the Dockerfile that uses this image";
          default -> "use FROM, RUN, COPY, ADD, ENV, ARG, USER, WORKDIR, CMD or ENTRYPOINT";
        };
    return instruction.refused(abbreviated(instruction.keyword()) + " is not supported", remedy);
  }

  /** Validates the steps of an instruction, so that an error names its line. */
  private static void check(Instruction instruction, List<Object> added) {
    if (!added.isEmpty()) {
      try {
        Recipe _ = RecipeDocument.check(Map.of("base", "base", "steps", List.copyOf(added)));
      } catch (InvalidRequest e) {
        throw instruction.refused(
            instruction.keyword()
                + " cannot be used: "
                + e.fault().problem().replaceAll("steps\\[[0-9]+]\\.", ""),
            "correct the instruction");
      }
    }
  }

  private void from(Instruction instruction) {
    if (base.isPresent()) {
      throw instruction.refused(
          "a second FROM: builds in several stages are not supported",
          "build the first stage as an image of its own and copy its files, or use one stage");
    }
    Instruction.Flags flags = instruction.flags();
    if (!flags.flags().isEmpty()) {
      throw instruction.refused(
          "FROM --" + abbreviated(flags.flags().getFirst()) + " is not supported",
          "remove the flag: images are for the processor of this machine");
    }
    List<String> words = WordExpansion.words(instruction, flags.rest(), globals);
    if (words.isEmpty() || (words.size() > 1 && !words.get(1).equalsIgnoreCase("AS"))) {
      throw instruction.refused("FROM names no image", "write FROM IMAGE");
    }
    if (words.getFirst().equals("scratch")) {
      throw instruction.refused(
          "FROM scratch is not supported", "use an image, or isola image import for a whole root");
    }
    base = Optional.of(words.getFirst());
  }

  private void argument(Instruction instruction) {
    for (String word :
        WordExpansion.words(instruction, instruction.text(), variables(instruction))) {
      int equals = word.indexOf('=');
      String name = equals < 0 ? word : word.substring(0, equals);
      if (!NAME.matcher(name).matches()) {
        throw instruction.refused(
            "'" + abbreviated(name) + "' is not the name of a variable", "write ARG NAME=DEFAULT");
      }
      unused.remove(name);
      Optional<String> value =
          Optional.ofNullable(given.get(name))
              .or(() -> equals < 0 ? Optional.empty() : Optional.of(word.substring(equals + 1)))
              .or(() -> Optional.ofNullable(globals.get(name)));
      Map<String, String> scope = base.isEmpty() ? globals : arguments;
      value.ifPresent(text -> scope.put(name, text));
      if (length(scope) > WordExpansion.MAX_LENGTH) {
        throw instruction.refused("the values of ARG are too long", "use shorter values");
      }
    }
  }

  private static int length(Map<String, String> variables) {
    return variables.entrySet().stream()
        .mapToInt(one -> one.getKey().length() + one.getValue().length())
        .sum();
  }

  /** Returns the variables that an instruction can name. */
  private Map<String, String> variables(Instruction instruction) {
    if (base.isEmpty()) {
      return globals;
    }
    Map<String, String> all = new HashMap<>(arguments);
    if (instruction.text().indexOf('$') >= 0) {
      all.putAll(inherited());
      if (!baseIsKnown
          && !env.containsKey("PATH")
          && USE_OF_PATH.matcher(instruction.text()).find()) {
        notes.putIfAbsent(
            "PATH",
            "line "
                + instruction.line()
                + ": $PATH is that of Debian, because there is no image "
                + abbreviated(base.get())
                + " yet; if it has another, pull the image first (isola image pull)");
      }
    }
    all.putAll(env);
    return all;
  }

  /** Returns the variables of the base. */
  private Map<String, String> inherited() {
    if (inherited.isEmpty()) {
      Optional<Map<String, String>> known = base.flatMap(images);
      Map<String, String> all = new HashMap<>(Map.of("PATH", PATH));
      known.ifPresent(all::putAll);
      baseIsKnown = known.isPresent();
      inherited = Optional.of(all);
    }
    return inherited.get();
  }

  private String expanded(Instruction instruction) {
    String text = WordExpansion.text(instruction, instruction.text(), variables(instruction));
    if (text.isBlank()) {
      throw instruction.refused(
          instruction.keyword() + " has no value", "write " + instruction.keyword() + " VALUE");
    }
    return text;
  }

  private void run(Instruction instruction) {
    Instruction.Flags flags = instruction.flags();
    if (!flags.flags().isEmpty()) {
      throw instruction.refused(
          "RUN --" + abbreviated(flags.flags().getFirst()) + " is not supported",
          "remove the flag");
    }
    if (flags.rest().isBlank()) {
      throw instruction.refused("RUN has no command", "write RUN COMMAND");
    }
    step("run", exports() + shellCommand(flags.rest()));
  }

  /** Arguments are variables of commands, but not of the image. */
  private String exports() {
    String all =
        arguments.entrySet().stream()
            .filter(one -> !env.containsKey(one.getKey()))
            .filter(one -> !inherited().containsKey(one.getKey()))
            .map(one -> one.getKey() + "=" + ExecForm.quoted(one.getValue()))
            .collect(Collectors.joining(" "));
    return all.isEmpty() ? "" : "export " + all + "; ";
  }

  private static String shellCommand(String text) {
    return ExecForm.parse(text).map(words -> "exec " + ExecForm.shellCommand(words)).orElse(text);
  }

  private void env(Instruction instruction) {
    String[] legacy = instruction.text().split("\\s+", 2);
    Map<String, String> set = new LinkedHashMap<>();
    if (legacy[0].indexOf('=') < 0) {
      set.put(
          legacy[0],
          WordExpansion.text(
              instruction, legacy.length > 1 ? legacy[1] : "", variables(instruction)));
    } else {
      for (String word :
          WordExpansion.words(instruction, instruction.text(), variables(instruction))) {
        int equals = word.indexOf('=');
        if (equals < 1) {
          throw instruction.refused(
              "'" + abbreviated(word) + "' has no value", "write ENV NAME=VALUE, with quotes");
        }
        set.put(word.substring(0, equals), word.substring(equals + 1));
      }
    }
    step("env", set);
    env.putAll(set);
  }

  private void copy(Instruction instruction) {
    Map<String, Object> options = copyOptions(instruction);
    String rest = instruction.flags().rest();
    List<String> words =
        ExecForm.parse(rest)
            .map(all -> all.stream().map(one -> literal(instruction, one)).toList())
            .orElseGet(() -> WordExpansion.words(instruction, rest, variables(instruction)));
    if (words.size() < 2) {
      throw instruction.refused(
          instruction.keyword() + " needs a source and a destination",
          "write " + instruction.keyword() + " SOURCE DESTINATION");
    }
    String to = words.getLast();
    if (words.size() > 2 && !to.endsWith("/")) {
      throw instruction.refused(
          "several sources need a folder as destination", "end the destination with /");
    }
    for (String from : words.subList(0, words.size() - 1)) {
      Map<String, Object> copy = new LinkedHashMap<>(options);
      copy.put("from", source(instruction, from));
      copy.put("to", to);
      step("copy", copy);
    }
  }

  /** Expands the variables of a word whose quotes are already removed. */
  private String literal(Instruction instruction, String word) {
    return WordExpansion.text(
        instruction, word.replaceAll("([\\\\\"'])", "\\\\$1"), variables(instruction));
  }

  private Map<String, Object> copyOptions(Instruction instruction) {
    Map<String, Object> options = new LinkedHashMap<>();
    options.put("owner", "root:root"); // as with Docker, whatever USER is
    for (String flag : instruction.flags().flags()) {
      int equals = flag.indexOf('=');
      String name = equals < 0 ? flag : flag.substring(0, equals);
      String value =
          equals < 0
              ? ""
              : WordExpansion.text(instruction, flag.substring(equals + 1), variables(instruction));
      switch (name) {
        case "chown" -> options.put("owner", value);
        case "chmod" -> options.put("mode", value);
        case "link" -> {} // has no effect on the result
        default ->
            throw instruction.refused(
                instruction.keyword() + " --" + abbreviated(name) + " is not supported",
                name.equals("from")
                    ? "copy from the folder of the Dockerfile; other stages are not supported"
                    : "remove the flag");
      }
    }
    return options;
  }

  private static String source(Instruction instruction, String from) {
    if (REMOTE.matcher(from).matches()) {
      throw instruction.refused(
          instruction.keyword() + " of a URL is not supported",
          "download it with RUN curl, and build with --network");
    }
    if (instruction.keyword().equals("ADD") && ARCHIVE.matcher(from).matches()) {
      throw instruction.refused(
          "ADD does not unpack " + abbreviated(from), "COPY it and unpack it with RUN tar");
    }
    String path = from.replaceFirst("^/+", "");
    return path.isEmpty() ? "." : path;
  }

  private void step(String kind, Object value) {
    steps.add(Map.of(kind, value));
  }

  private void note(Instruction instruction, String why) {
    notes.putIfAbsent(
        instruction.keyword(),
        "line " + instruction.line() + ": " + instruction.keyword() + " has no effect: " + why);
  }

  Dockerfile end() {
    if (base.isEmpty()) {
      throw Instruction.refused(1, "FROM is missing", "begin the file with FROM IMAGE");
    }
    unused.forEach(
        name -> notes.put("--build-arg " + name, "no ARG declares " + abbreviated(name)));
    Map<String, Object> recipe = new LinkedHashMap<>();
    recipe.put("base", base.get());
    recipe.put("steps", List.copyOf(steps));
    start().ifPresent(text -> recipe.put("start", text));
    return new Dockerfile(recipe, List.copyOf(notes.values()));
  }

  /** Returns the command of a container; CMD is the arguments of an ENTRYPOINT in exec form. */
  private Optional<String> start() {
    Optional<List<String>> words = entrypoint.flatMap(one -> ExecForm.parse(one.text()));
    if (words.isPresent()) {
      List<String> all = new ArrayList<>(words.get());
      command.flatMap(one -> ExecForm.parse(one.text())).ifPresent(all::addAll);
      return Optional.of("exec " + ExecForm.shellCommand(all));
    }
    return entrypoint
        .or(() -> command)
        .map(one -> shellCommand(one.text()))
        .filter(text -> !text.isBlank());
  }

  private static String abbreviated(String text) {
    return text.length() > 80 ? text.substring(0, 80) + "..." : text;
  }
}
