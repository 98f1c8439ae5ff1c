package dev.isola.app.remote;

import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.terminal.NativeTerminal;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Reads a line from the terminal without displaying it. */
record HiddenInput(CliEnvironment environment) {
  /** Prints a prompt and returns the line without its end. */
  String readLine(String prompt, int maxBytes) {
    NativeTerminal terminal = new NativeTerminal(0);
    terminal.save();
    Thread hook = new Thread(terminal::restore, "isola-terminal");
    Runtime.getRuntime().addShutdownHook(hook);
    try {
      print(prompt);
      terminal.disableEcho();
      return line(maxBytes);
    } finally {
      terminal.restore();
      print("\n");
      Runtime.getRuntime().removeShutdownHook(hook);
    }
  }

  private void print(String text) {
    try {
      environment.err().write(text.getBytes(StandardCharsets.UTF_8));
      environment.err().flush();
    } catch (IOException e) {
      // The prompt is optional.
    }
  }

  /** Returns the next line of standard input, terminal or not. */
  String line(int maxBytes) {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    try {
      for (int c = environment.in().read();
          c >= 0 && c != '\n' && line.size() < maxBytes;
          c = environment.in().read()) {
        line.write(c);
      }
    } catch (IOException e) {
      // An incomplete line is rejected by the server.
    }
    return line.toString(StandardCharsets.UTF_8).strip();
  }
}
