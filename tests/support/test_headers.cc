// Nothing: CMake compiles the headers that most tests include once, beside a source.
