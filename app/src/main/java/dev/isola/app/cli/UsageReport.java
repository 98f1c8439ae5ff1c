package dev.isola.app.cli;

import dev.isola.document.field.Suggestion;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Explains a command line that cannot be parsed: what is wrong, and the command that was probably
 * meant.
 *
 * @param path the folders in which programs are searched
 */
public record UsageReport(String path) {
  private static final int MAX_SUGGESTIONS = 2;

  /** Names that other tools have for commands of Isola. */
  private static final Map<String, String> OTHER_NAMES =
      Map.ofEntries(
          Map.entry("ps", "isola ls"),
          Map.entry("list", "isola ls"),
          Map.entry("delete", "isola rm"),
          Map.entry("remove", "isola rm"),
          Map.entry("destroy", "isola rm"),
          Map.entry("show", "isola inspect"),
          Map.entry("describe", "isola inspect"),
          Map.entry("extend", "isola renew"),
          Map.entry("start", "isola create"),
          Map.entry("stop", "isola pause --stop"),
          Map.entry("unpause", "isola resume"),
          Map.entry("attach", "isola shell --attach"),
          Map.entry("ssh", "isola shell"),
          Map.entry("copy", "isola cp"),
          Map.entry("server", "isola serve"),
          Map.entry("images", "isola image list"),
          Map.entry("build", "isola image build"),
          Map.entry("pull", "isola image pull"),
          Map.entry("snapshots", "isola snapshot ls"),
          Map.entry("volumes", "isola volume ls"),
          Map.entry("templates", "isola template ls"));

  /** Options of docker run that Isola does not need. */
  private static final Set<String> NOT_NEEDED = Set.of("-i", "-it", "-ti", "--interactive", "--rm");

  /** Names that options have in other tools and APIs. */
  private static final Map<String, String> OTHER_OPTIONS =
      Map.of("--runtime", "--provider", "--runtime-id", "--id", "--container-id", "--id");

  /** Options before the command that have a value. */
  private static final Set<String> WITH_VALUE = Set.of("--color", "--data");

  /** Refuses arguments after {@code --} without a command before it, as in {@code isola -- ls}. */
  public static void rejectMissingCommand(String[] args) {
    for (int i = 0; i < args.length && args[i].startsWith("-"); i++) {
      if (args[i].equals("--")) {
        List<String> rest = List.of(args).subList(i + 1, args.length);
        throw new UsageException(
            "there is no command before '--'",
            rest.isEmpty()
                ? "see isola --help"
                : "to run this in a fresh sandbox: isola run -- " + quoted(rest));
      }
      if (WITH_VALUE.contains(args[i])) {
        i++;
      }
    }
  }

  /** Returns the error for a command line that picocli rejected. */
  public Fault of(ParameterException e) {
    return switch (e) {
      case UnmatchedArgumentException unmatched -> unmatched(unmatched);
      case MissingParameterException missing ->
          fault(plain(e.getMessage()), missing(missing) + seeHelp(e.getCommandLine()));
      default -> fault(plain(e.getMessage()), seeHelp(e.getCommandLine()));
    };
  }

  private Fault unmatched(UnmatchedArgumentException e) {
    CommandLine line = e.getCommandLine();
    String word = e.getUnmatched().getFirst();
    if (word.startsWith("-")) {
      return fault(plain(e.getMessage()), option(line, word));
    }
    if (!line.getSubcommands().isEmpty()) {
      return fault(
          "unknown command '" + qualified(line, word) + "'", command(line, e.getUnmatched()));
    }
    if (line.getCommandSpec().positionalParameters().isEmpty()) {
      String name = line.getCommandSpec().qualifiedName();
      return fault(
          name + " takes no arguments, and '" + word + "' was given",
          name.equals("isola ls")
              ? "isola inspect ID describes one sandbox, and isola exec ID -- ls lists files in it"
              : seeHelp(line));
    }
    return fault(plain(e.getMessage()), seeHelp(line));
  }

  private static String qualified(CommandLine line, String word) {
    return (line.getCommandSpec().qualifiedName() + " " + word).substring("isola ".length());
  }

  private String command(CommandLine line, List<String> words) {
    String word = words.getFirst();
    boolean root = line.getParent() == null;
    Optional<String> other =
        root ? Optional.ofNullable(OTHER_NAMES.get(word)) : otherVerb(line, word);
    if (other.isPresent()) {
      return "did you mean " + other.get() + "? See isola --help";
    }
    List<String> names =
        line.getSubcommands().entrySet().stream()
            .filter(entry -> !entry.getValue().getCommandSpec().usageMessage().hidden())
            .map(Map.Entry::getKey)
            .toList();
    List<String> close = Suggestion.candidates(word, names, MAX_SUGGESTIONS);
    if (!close.isEmpty()) {
      return didYouMean(close, line);
    }
    return root && isProgram(word)
        ? "to run this in a fresh sandbox: isola run -- " + quoted(words)
        : seeHelp(line);
  }

  /** Returns the subcommand for {@code ls} where it is called {@code list}, and so on. */
  private static Optional<String> otherVerb(CommandLine line, String word) {
    List<Set<String>> verbs =
        List.of(
            Set.of("ls", "list"),
            Set.of("rm", "remove", "delete"),
            Set.of("show", "inspect", "describe"));
    return verbs.stream()
        .filter(verb -> verb.contains(word))
        .flatMap(Set::stream)
        .filter(line.getSubcommands()::containsKey)
        .map(verb -> line.getCommandSpec().qualifiedName() + " " + verb)
        .findFirst();
  }

  private static String option(CommandLine line, String word) {
    if (NOT_NEEDED.contains(word)) {
      return "omit it: standard input is passed without it, and isola run removes the sandbox; -t"
          + " allocates a terminal";
    }
    List<String> names = new ArrayList<>();
    line.getCommandSpec().options().forEach(option -> names.addAll(List.of(option.names())));
    names.removeIf(name -> !name.startsWith("--"));
    String here = OTHER_OPTIONS.get(word.split("=", 2)[0]);
    if (here != null && names.contains(here)) {
      return "use " + here;
    }
    String stripped = word.replaceFirst("^-+", "").replaceFirst("=.*", "");
    List<String> close = Suggestion.candidates(stripped, names, MAX_SUGGESTIONS);
    return close.isEmpty() ? seeHelp(line) : didYouMean(close, line);
  }

  private static String missing(MissingParameterException e) {
    String command = e.getCommandLine().getCommandSpec().qualifiedName();
    if (command.equals("isola run")) {
      return "for example: isola run -- uname -a; ";
    }
    boolean sandbox =
        e.getMissing().stream()
            .map(ArgSpec::paramLabel)
            .anyMatch(Set.of("ID", "SANDBOX")::contains);
    return sandbox ? "isola ls lists the sandboxes; " : "";
  }

  private static String didYouMean(List<String> close, CommandLine line) {
    return "did you mean "
        + String.join(" or ", close)
        + "? See "
        + line.getCommandSpec().qualifiedName()
        + " --help";
  }

  private static String seeHelp(CommandLine line) {
    CommandSpec spec = line.getCommandSpec();
    return "see " + spec.qualifiedName() + " --help";
  }

  private boolean isProgram(String word) {
    if (word.isEmpty() || word.indexOf('/') >= 0) {
      return false;
    }
    try {
      for (String folder : path.split(File.pathSeparator)) {
        Path program = Path.of(folder).resolve(word);
        if (folder.startsWith("/") && Files.isRegularFile(program) && Files.isExecutable(program)) {
          return true;
        }
      }
    } catch (InvalidPathException e) {
      return false;
    }
    return false;
  }

  private static String quoted(List<String> words) {
    return words.stream()
        .map(
            word ->
                word.matches("[A-Za-z0-9_@%+=:,./-]+")
                    ? word
                    : "'" + word.replace("'", "'\\''") + "'")
        .collect(Collectors.joining(" "));
  }

  private static Fault fault(String problem, String remedy) {
    return Fault.of(ErrorCode.INVALID_REQUEST, problem, remedy);
  }

  /**
   * Lowercases the first letter: picocli's messages are sentences, but here they follow "isola: ".
   */
  private static String plain(@Nullable String message) {
    return message == null || message.isEmpty()
        ? "the command line cannot be parsed"
        : Character.toLowerCase(message.charAt(0)) + message.substring(1);
  }
}
