package dev.isola.app.microvmctl;

import dev.isola.app.cli.CommandContext;
import dev.isola.client.Files;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Base64;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Implements {@code microvmctl read}. */
@Command(name = "read", description = "Print a file.")
final class ReadVerb extends PathVerb {
  @Option(names = "--base64", description = "Encode the content, on one line.")
  private boolean base64;

  ReadVerb(CommandContext context) {
    super(context);
  }

  @Override
  void run(Files files, String path) throws IOException {
    OutputStream out = context.environment().out();
    try (InputStream content = files.read(path)) {
      if (!base64) {
        content.transferTo(out);
        return;
      }
      try (OutputStream encoded = Base64.getEncoder().wrap(new Unclosed(out))) {
        content.transferTo(encoded);
      }
      out.write('\n');
    }
  }

  /** Closing the encoder writes the padding; standard output stays open. */
  private static final class Unclosed extends FilterOutputStream {
    Unclosed(OutputStream out) {
      super(out);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      out.write(bytes, from, length);
    }

    @Override
    public void close() throws IOException {
      out.flush();
    }
  }
}
