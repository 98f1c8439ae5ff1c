package dev.isola.host.image;

import java.nio.file.Path;
import java.util.function.Consumer;

/**
 * Where a source puts what it has.
 *
 * @param work an empty folder for things on the way; it goes when the image is done
 * @param root whether this process may give files away, and so keeps owners
 * @param progress is told in a few words what is being done
 */
record UnpackContext(
    Unpacker unpacker,
    Path work,
    Budget budget,
    ImportWarnings warnings,
    boolean preserveOwners,
    Consumer<String> progress) {}
