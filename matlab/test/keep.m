function keep(a)
% Holds an array until the session ends.
persistent kept
mlock();
kept = a;
end
