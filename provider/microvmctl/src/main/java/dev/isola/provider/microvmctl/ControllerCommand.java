package dev.isola.provider.microvmctl;

import dev.isola.scripts.ShellWords;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The command that controls the sandboxes, and how it is reached.
 *
 * @param transport the words before the command; empty if it runs on this machine
 * @param cli the command itself
 * @param host the machine on which it runs; empty for this one
 */
record ControllerCommand(List<String> transport, List<String> cli, Optional<String> host) {
  ControllerCommand {
    transport = List.copyOf(transport);
    cli = List.copyOf(cli);
  }

  static ControllerCommand local(List<String> cli) {
    return new ControllerCommand(List.of(), cli, Optional.empty());
  }

  /** A connection that is silent for 45 s is dropped, so that no call waits for a dead host. */
  static ControllerCommand ssh(List<String> options, String host, List<String> cli) {
    List<String> words = new ArrayList<>(List.of("ssh", "-T"));
    for (String option :
        List.of(
            "BatchMode=yes",
            "ConnectTimeout=10",
            "ServerAliveInterval=15",
            "ServerAliveCountMax=3",
            "EscapeChar=none")) {
      words.addAll(List.of("-o", option));
    }
    words.addAll(options);
    words.addAll(List.of(host, "--"));
    return new ControllerCommand(words, cli, Optional.of(host));
  }

  /** Returns the program to start on this machine. */
  String program() {
    return (transport.isEmpty() ? cli : transport).getFirst();
  }

  /**
   * Returns the command line for a verb. The shell of a remote machine reads it again, so every
   * word is quoted there.
   */
  List<String> line(List<String> verb) {
    Stream<String> words = Stream.concat(cli.stream(), verb.stream());
    return transport.isEmpty()
        ? words.toList()
        : Stream.concat(
                transport.stream(),
                Stream.of(words.map(ShellWords::quote).collect(Collectors.joining(" "))))
            .toList();
  }

  /** Returns the command as an operator would write it, for messages. */
  String display() {
    return String.join(" ", cli) + host.map(name -> " on " + name).orElse("");
  }
}
