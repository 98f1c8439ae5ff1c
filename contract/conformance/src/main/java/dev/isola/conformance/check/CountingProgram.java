package dev.isola.conformance.check;

import dev.isola.conformance.CheckFailed;
import dev.isola.conformance.Expect;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecutionId;
import java.util.List;

/**
 * A program that has everything that a fork of memory must continue: a thread that counts, a child
 * process that counts to a pipe, a TCP connection to that process over loopback, and an open
 * temporary file that it appends to. Each tick prints all of them with the time and random bytes of
 * the kernel. A line on standard input is answered.
 */
final class CountingProgram implements AutoCloseable {
  private static final String SCRIPT =
      """
      import os, socket, sys, tempfile, threading, time

      def emit(*words):
          os.write(1, (" ".join(str(word) for word in words) + "\\n").encode())

      def exactly(size, read):
          data = b""
          while len(data) < size:
              more = read(size - len(data))
              if not more:
                  os._exit(3)
              data += more
          return data

      def echo():
          connection = listener.accept()[0]
          while True:
              connection.sendall(exactly(8, connection.recv))

      def count():
          global counted
          while True:
              counted += 1
              time.sleep(0.005)

      def answer():
          for line in sys.stdin:
              emit("answer", line.strip(), os.urandom(16).hex(), time.time_ns())

      def thread(target):
          threading.Thread(target=target, daemon=True).start()

      listener = socket.create_server(("127.0.0.1", 0))
      end, begin = os.pipe()
      if os.fork() == 0:
          os.close(end)
          thread(echo)
          n = 0
          while True:
              n += 1
              os.write(begin, b"%8d" % n)
              time.sleep(0.02)
      os.close(begin)
      connection = socket.create_connection(listener.getsockname())
      log, path = tempfile.mkstemp(dir=os.getcwd())
      emit("file", path)
      counted = 0
      thread(count)
      thread(answer)
      n = 0
      while True:
          n += 1
          child = int(exactly(8, lambda size: os.read(end, size)))
          connection.sendall(b"%8d" % n)
          echoed = int(exactly(8, connection.recv))
          os.write(log, b"%8d\\n" % n)
          size = os.fstat(log).st_size // 9
          emit("tick", n, child, echoed, size, counted, time.time_ns(), os.urandom(8).hex())
      """;

  /**
   * A line of the program.
   *
   * @param child the number that the child process wrote to the pipe
   * @param echoed the number that came back over TCP
   * @param written the number of lines in the open file
   * @param counted the counter of the thread
   * @param nanos the time
   */
  record Tick(
      long number, long child, long echoed, long written, long counted, long nanos, String random) {
    static Tick of(String line) {
      String[] words = line.split(" ");
      Expect.equal(8, words.length, "the number of words in '" + line + "'");
      return new Tick(
          Long.parseLong(words[1]),
          Long.parseLong(words[2]),
          Long.parseLong(words[3]),
          Long.parseLong(words[4]),
          Long.parseLong(words[5]),
          Long.parseLong(words[6]),
          words[7]);
    }
  }

  private final Sandbox sandbox;
  private final AttachedReader reader;

  private CountingProgram(Sandbox sandbox, AttachedReader reader) {
    this.sandbox = sandbox;
    this.reader = reader;
  }

  /** Starts the program and waits until it counts. */
  static CountingProgram start(Sandbox sandbox) {
    Command command = Command.argv("python3", "-c", SCRIPT).withStdin();
    CountingProgram program =
        new CountingProgram(sandbox, new AttachedReader(sandbox.start(command)));
    program.awaitTick(10);
    return program;
  }

  /** Attaches to the program in a fork. */
  static CountingProgram in(Sandbox fork, ExecutionId id) {
    return new CountingProgram(fork, AttachedReader.attach(fork, id));
  }

  ExecutionId id() {
    return reader.id();
  }

  AttachedReader reader() {
    return reader;
  }

  /** Returns all ticks since the program was started, including those before a fork. */
  List<Tick> ticks() {
    String all = reader.text();
    return all.substring(0, all.lastIndexOf('\n') + 1)
        .lines()
        .filter(line -> line.startsWith("tick "))
        .map(Tick::of)
        .toList();
  }

  long last() {
    List<Tick> ticks = ticks();
    return ticks.isEmpty() ? 0 : ticks.getLast().number();
  }

  void awaitTick(long number) {
    reader.await("tick " + number + " in " + sandbox.id(), () -> last() >= number);
  }

  /** Waits until the program has made progress, and checks all its ticks. */
  List<Tick> verify(String whose) {
    awaitTick(last() + 10);
    List<Tick> ticks = ticks();
    verify(ticks, whose);
    String path = path();
    List<String> lines = FileContents.text(sandbox.files(), path).lines().toList();
    for (int i = 0; i < lines.size(); i++) {
      Expect.equal(Integer.toString(i + 1), lines.get(i).strip(), "line " + i + " of " + path);
    }
    Expect.that(lines.size() >= ticks.size(), whose + " file has every line, not " + lines.size());
    return ticks;
  }

  static void verify(List<Tick> ticks, String whose) {
    Tick before = ticks.getFirst();
    for (int i = 0; i < ticks.size(); i++) {
      Tick tick = ticks.get(i);
      long expected = i + 1L;
      Expect.equal(expected, tick.number(), whose + " counter without a gap");
      Expect.equal(expected, tick.child(), whose + " child's counter in tick " + expected);
      Expect.equal(expected, tick.echoed(), whose + " connection's answer in tick " + expected);
      Expect.equal(expected, tick.written(), whose + " file's lines in tick " + expected);
      Expect.that(
          tick.counted() >= before.counted(), whose + " thread continues in tick " + expected);
      Expect.that(
          tick.nanos() >= before.nanos(), whose + " clock is not set back in tick " + expected);
      before = tick;
    }
    Expect.that(
        ticks.getLast().counted() > ticks.getFirst().counted(), whose + " thread still counts");
  }

  private String path() {
    return reader
        .text()
        .lines()
        .filter(line -> line.startsWith("file "))
        .map(line -> line.substring("file ".length()))
        .findFirst()
        .orElseThrow(() -> new CheckFailed("the program printed no path"));
  }

  /** The answer of the running program to a question: random bytes and the time. */
  record Answer(String random, long nanos) {}

  Answer ask(String question) {
    String begin = "answer " + question + " ";
    reader.type(question + "\n").awaitText(begin);
    String all = reader.text();
    reader.await("the answer", () -> reader.text().indexOf('\n', all.indexOf(begin)) > 0);
    String text = reader.text();
    int from = text.indexOf(begin) + begin.length();
    String[] words = text.substring(from, text.indexOf('\n', from)).split(" ");
    return new Answer(words[0], Long.parseLong(words[1]));
  }

  @Override
  public void close() {
    reader.close();
  }
}
