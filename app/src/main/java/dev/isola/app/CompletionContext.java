package dev.isola.app;

import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.GlobalOptions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * What the last word of an incomplete command line may be.
 *
 * @param words fixed candidates: commands, options and their values
 * @param kind of the names that are candidates, too
 * @param positionals arguments of the command before the last word
 * @param options options with a value before the last word
 */
record CompletionContext(
    List<String> words, Kind kind, List<String> positionals, Map<String, String> options) {

  /** Kinds of names. */
  enum Kind {
    NONE,
    SANDBOX,
    SANDBOX_PATH,
    EXECUTION,
    SNAPSHOT,
    VOLUME,
    VOLUME_PATH,
    TEMPLATE,
    SECRET,
    SERVER_PROVIDER,
    LOCAL_PROVIDER,
    LOCAL_IMAGE,
    SERVER_IMAGE,
    /** Images of the server, if one is configured, or else of this machine. */
    CONFIGURED_IMAGE,
    CONTEXT
  }

  Optional<String> optionValue(String name) {
    return Optional.ofNullable(options.get(name));
  }

  String firstPositional() {
    return positionals.isEmpty() ? "" : positionals.getFirst();
  }

  /**
   * Parses the words before the last one.
   *
   * @param current the last word; it may be empty
   */
  static CompletionContext of(List<String> before, String current, CommandContext context) {
    Map<String, Function<CommandContext, CommandLine>> commands = Main.commands();
    CommandLine root = new CommandLine(new GlobalOptions());
    ArgumentWalk walk = new ArgumentWalk(root);
    int next = walk.globalOptions(before);
    if (next >= before.size()) {
      if (current.startsWith("-") || walk.pending().isPresent()) {
        return walk.context(current);
      }
      List<String> names = new ArrayList<>(commands.keySet());
      names.removeIf(name -> commandLine(name, context).getCommandSpec().usageMessage().hidden());
      return fixed(names);
    }
    if (!commands.containsKey(before.get(next))) {
      return fixed(List.of());
    }
    CommandLine line = commandLine(before.get(next), context);
    root.addSubcommand(line); // it inherits the global options
    return command(line, before.subList(next + 1, before.size()), current);
  }

  private static CompletionContext command(CommandLine line, List<String> words, String current) {
    CommandLine subcommand = words.isEmpty() ? null : line.getSubcommands().get(words.getFirst());
    if (subcommand != null) {
      return command(subcommand, words.subList(1, words.size()), current);
    }
    ArgumentWalk walk = new ArgumentWalk(line);
    walk.arguments(words);
    return walk.context(current);
  }

  private static CommandLine commandLine(String name, CommandContext context) {
    Function<CommandContext, CommandLine> create = Main.commands().get(name);
    if (create == null) {
      throw new IllegalArgumentException(name);
    }
    return create.apply(context);
  }

  static CompletionContext fixed(List<String> words) {
    return new CompletionContext(words, Kind.NONE, List.of(), Map.of());
  }

  /** Walks over the arguments of one command as its parser would. */
  private static final class ArgumentWalk {
    private final CommandLine line;
    private final List<String> positionals = new ArrayList<>();
    private final Map<String, String> options = new HashMap<>();
    private @Nullable OptionSpec pending;
    private boolean literal;
    private boolean local;

    ArgumentWalk(CommandLine line) {
      this.line = line;
    }

    Optional<OptionSpec> pending() {
      return Optional.ofNullable(pending);
    }

    /** Returns the index of the first word that is not a global option. */
    int globalOptions(List<String> words) {
      int i = 0;
      while (i < words.size() && (pending != null || words.get(i).startsWith("-"))) {
        add(words.get(i));
        i++;
      }
      return i;
    }

    void arguments(List<String> words) {
      words.forEach(this::add);
    }

    private void add(String word) {
      OptionSpec option = pending;
      if (option != null) {
        options.put(option.longestName(), word);
        pending = null;
      } else if (literal || !word.startsWith("-") || word.equals("-")) {
        positionals.add(word);
        literal |= line.getCommandSpec().parser().stopAtPositional();
      } else if (word.equals("--")) {
        literal = true;
      } else if (word.indexOf('=') < 0) {
        local |= word.equals("--local");
        OptionSpec named = line.getCommandSpec().findOption(word);
        pending = named != null && named.arity().max() > 0 ? named : null;
      }
    }

    CompletionContext context(String current) {
      OptionSpec option = pending;
      if (option != null) {
        return of(option, kind(option.longestName(), option.paramLabel()));
      }
      if (!literal && current.startsWith("-")) {
        return CompletionContext.fixed(optionNames());
      }
      if (positionals.isEmpty() && !line.getSubcommands().isEmpty()) {
        return CompletionContext.fixed(List.copyOf(line.getSubcommands().keySet()));
      }
      Optional<PositionalParamSpec> parameter =
          line.getCommandSpec().positionalParameters().stream()
              .filter(one -> one.index().contains(positionals.size()))
              .findFirst();
      return parameter.isEmpty()
          ? CompletionContext.fixed(List.of())
          : of(parameter.get(), kind("", parameter.get().paramLabel()));
    }

    private List<String> optionNames() {
      return line.getCommandSpec().options().stream()
          .filter(option -> !option.hidden())
          .flatMap(option -> Stream.of(option.names()))
          .filter(name -> name.startsWith("--"))
          .toList();
    }

    private CompletionContext of(ArgSpec argument, Kind kind) {
      List<String> values = new ArrayList<>();
      if (argument.completionCandidates() != null) {
        argument.completionCandidates().forEach(values::add);
      }
      return new CompletionContext(values, kind, positionals, options);
    }

    /** Returns the kind of an option or, if its name is empty, of a positional parameter. */
    private Kind kind(String option, String label) {
      String command = line.getCommandSpec().qualifiedName();
      boolean remote = line.getCommandSpec().findOption("--server") != null;
      return switch (option.isEmpty() ? label : option) {
        case "ID", "SANDBOX", "--sandbox" -> Kind.SANDBOX;
        case "EXEC", "--attach" -> Kind.EXECUTION;
        case "SNAPSHOT", "FROM", "TO" -> Kind.SNAPSHOT;
        case "SRC", "DST" ->
            command.equals("isola volume cp") ? Kind.VOLUME_PATH : Kind.SANDBOX_PATH;
        case "--provider" -> remote ? Kind.SERVER_PROVIDER : Kind.LOCAL_PROVIDER;
        case "PROVIDER" -> Kind.LOCAL_PROVIDER;
        case "--image", "IMAGE" -> remote ? Kind.SERVER_IMAGE : Kind.LOCAL_IMAGE;
        case "--template" -> Kind.TEMPLATE;
        case "--context" -> Kind.CONTEXT;
        case "NAME" -> named(command);
        default -> Kind.NONE;
      };
    }

    private Kind named(String command) {
      return switch (command) {
        case "isola volume rm", "isola volume files" -> Kind.VOLUME;
        case "isola template show", "isola template rm", "isola template build" -> Kind.TEMPLATE;
        case "isola secrets show", "isola secrets set", "isola secrets rm" -> Kind.SECRET;
        case "isola image show", "isola image rm" ->
            local ? Kind.LOCAL_IMAGE : Kind.CONFIGURED_IMAGE;
        case "isola image check" -> Kind.LOCAL_IMAGE;
        case "isola contexts", "isola logout" -> Kind.CONTEXT;
        default -> Kind.NONE;
      };
    }
  }
}
